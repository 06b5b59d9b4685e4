/* JSON files that programs hand over by their path; `argument` names it in messages. */
#ifndef SIM_CONFIG_FILE_H
#define SIM_CONFIG_FILE_H

#include "fail.h"
#include "json.h"

/* Reads the whole file into *content (malloc'ed, with a NUL behind); an empty path is an empty file. 100003, 200000. */
aclError sim_config_file_read(const char *path, const char *argument, char **content, size_t *size);

/* Checks the text, whose values *root leads to: an object. An empty one is {}. 100006. */
aclError sim_config_file_parse(const char *content, size_t size, const char *argument, struct sim_json *root);

static inline int sim_config_file_shown(struct sim_json value)
{
    ptrdiff_t length = value.js_end - value.js_start;
    return length < 64 ? (int)length : 64;
}

/* For messages: "%.*s" of what stands in the file. */
#define SIM_SHOWN(value) sim_config_file_shown(value), (value).js_start

#endif
