/* A strict JSON reader (RFC 8259): check a text once, then look values up in it. Values point into the text, strings
 * stay as written, and nothing is allocated. */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_JSON_DEPTH 64 /* the most levels of nesting */

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

/* True when the text is one JSON value, which it stores in *value. Otherwise *where is the byte at which the text is
 * invalid, and *why a short reason. */
bool sim_json_parse(const char *text, size_t size, struct sim_json *value, size_t *where, const char **why);

/* Finds a member of a checked object; the last one if its name is repeated. False if there is none, or `object` is not
 * an object. */
bool sim_json_member(struct sim_json object, const char *name, struct sim_json *value);

/* Steps to the next element of a checked array; to the first one if *element is {0}. False after the last one. */
bool sim_json_next(struct sim_json array, struct sim_json *element);

/* Copies a member that is a string, with its escapes as written; `text` stays unchanged if the object lacks the member.
 * False if it is of another kind, or too long. */
bool sim_json_text(struct sim_json object, const char *name, char *text, size_t size);

#endif
