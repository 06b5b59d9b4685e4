/* JSON files whose path a program passes; `argument` is the name of that argument in messages. */
#ifndef SIM_CONFIG_FILE_H
#define SIM_CONFIG_FILE_H

#include "fail.h"
#include "json.h"

/* Reads the whole file into *content (malloc'ed, with a NUL after it); an empty path means an empty file. Returns
 * 100003 if it cannot be read, and 200000 without memory. */
aclError sim_config_file_read(const char *path, const char *argument, char **content, size_t *size);

/* Checks the text, which must be a JSON object; an empty text means {}. *root is the object. Returns 100006
 * otherwise. */
aclError sim_config_file_parse(const char *content, size_t size, const char *argument, struct sim_json *root);

static inline int sim_config_file_shown(struct sim_json value)
{
    ptrdiff_t length = value.js_end - value.js_start;
    return length < 64 ? (int)length : 64;
}

/* For messages: the arguments of "%.*s" that show a value as it is in the file. */
#define SIM_SHOWN(value) sim_config_file_shown(value), (value).js_start

#endif
