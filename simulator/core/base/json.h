/* A strict reader of JSON texts (RFC 8259, bytes of strings taken as they are): check a text once, then look values up
 * in it. Values are views into the text; nothing is allocated. */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_JSON_DEPTH 64 /* most values inside one another */

enum sim_json_kind {
    SIM_JSON_NULL,
    SIM_JSON_BOOLEAN,
    SIM_JSON_NUMBER,
    SIM_JSON_STRING,
    SIM_JSON_ARRAY,
    SIM_JSON_OBJECT,
};

struct sim_json {
    enum sim_json_kind js_kind;
    const char *js_start, *js_end; /* of a string: between the quotes, escapes as written */
};

/* Whether the text is one JSON value and nothing else. When not, *where says at which byte it stops being one, and *why
 * in a few words. Fills in *value otherwise. */
bool sim_json_parse(const char *text, size_t size, struct sim_json *value, size_t *where, const char **why);

/* The value of a member of a checked object; the last one when a name is repeated. False when there is none, or when
 * `object` is not an object. */
bool sim_json_member(struct sim_json object, const char *name, struct sim_json *value);

/* The element of a checked array behind *element, or the first one when that is empty ({0}); false: there is none. */
bool sim_json_next(struct sim_json array, struct sim_json *element);

/* A copy of a member that is a string, escapes as written; `text` stays where the object lacks it. False when it is of
 * another kind, or too long. */
bool sim_json_text(struct sim_json object, const char *name, char *text, size_t size);

#endif
