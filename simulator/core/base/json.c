/* A strict JSON reader (json.h): one recursive-descent parser, used for checking and for looking up.
 *
 * The caller owns the text, into which the values point. There is no shared state and no lock. */
#include "json.h"

#include <string.h>

struct reader {
    const char *rd_at, *rd_end;
    const char *rd_why;
    int rd_depth;
};

static bool read_value(struct reader *reader, struct sim_json *value);

static bool stop(struct reader *reader, const char *why)
{
    reader->rd_why = why;
    return false;
}

static int peek(const struct reader *reader)
{
    return reader->rd_at < reader->rd_end ? (unsigned char)*reader->rd_at : -1;
}

static void skip_space(struct reader *reader)
{
    while (reader->rd_at < reader->rd_end && memchr(" \t\r\n", *reader->rd_at, 4) != NULL)
        reader->rd_at++;
}

/* Skips white space, and takes the next byte if it is the wanted one. */
static bool take(struct reader *reader, char wanted)
{
    skip_space(reader);
    if (peek(reader) != wanted)
        return false;
    reader->rd_at++;
    return true;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_hexadecimal(int c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool read_digits(struct reader *reader)
{
    if (!is_digit(peek(reader)))
        return stop(reader, "a digit was expected");
    while (is_digit(peek(reader)))
        reader->rd_at++;
    return true;
}

static bool read_number(struct reader *reader)
{
    if (peek(reader) == '-')
        reader->rd_at++;
    if (peek(reader) == '0')
        reader->rd_at++;
    else if (!read_digits(reader))
        return false;
    if (peek(reader) == '.') {
        reader->rd_at++;
        if (!read_digits(reader))
            return false;
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        reader->rd_at++;
        if (peek(reader) == '+' || peek(reader) == '-')
            reader->rd_at++;
        return read_digits(reader);
    }
    return true;
}

/* Reads a string after its opening quote, including the closing one. */
static bool read_string(struct reader *reader)
{
    for (;;) {
        int c = peek(reader);
        if (c < 0x20)
            return stop(reader, c < 0 ? "a string is not terminated" : "a string contains a control character");
        reader->rd_at++;
        if (c == '"')
            return true;
        if (c != '\\')
            continue;
        int escape = peek(reader);
        if (escape <= 0 || strchr("\"\\/bfnrtu", escape) == NULL)
            return stop(reader, "a backslash starts an unknown escape");
        reader->rd_at++;
        for (int i = 0; escape == 'u' && i < 4; i++) {
            if (!is_hexadecimal(peek(reader)))
                return stop(reader, "\\u needs four hexadecimal digits");
            reader->rd_at++;
        }
    }
}

/* Reads `"name":` and stores the name in *name. */
static bool read_name(struct reader *reader, struct sim_json *name)
{
    if (!take(reader, '"'))
        return stop(reader, "a name in double quotes was expected");
    name->js_start = reader->rd_at;
    if (!read_string(reader))
        return false;
    name->js_end = reader->rd_at - 1;
    return take(reader, ':') || stop(reader, "a colon was expected");
}

static bool read_members(struct reader *reader, char closing)
{
    if (++reader->rd_depth > SIM_JSON_DEPTH)
        return stop(reader, "values are nested too deep");
    struct sim_json ignored;
    if (!take(reader, closing)) {
        do {
            if ((closing == '}' && !read_name(reader, &ignored)) || !read_value(reader, &ignored))
                return false;
        } while (take(reader, ','));
        if (!take(reader, closing))
            return stop(reader, "a comma or the closing bracket was expected");
    }
    reader->rd_depth--;
    return true;
}

static bool read_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(reader->rd_end - reader->rd_at) < length || memcmp(reader->rd_at, word, length) != 0)
        return stop(reader, "a value was expected");
    reader->rd_at += length;
    return true;
}

static bool read_value(struct reader *reader, struct sim_json *value)
{
    skip_space(reader);
    value->js_start = reader->rd_at;
    bool is_read;
    switch (peek(reader)) {
    case '{':
        reader->rd_at++;
        value->js_kind = SIM_JSON_OBJECT;
        is_read = read_members(reader, '}');
        break;
    case '[':
        reader->rd_at++;
        value->js_kind = SIM_JSON_ARRAY;
        is_read = read_members(reader, ']');
        break;
    case '"':
        value->js_start = ++reader->rd_at;
        value->js_kind = SIM_JSON_STRING;
        is_read = read_string(reader);
        value->js_end = reader->rd_at - 1;
        return is_read;
    case 't':
    case 'f':
        value->js_kind = SIM_JSON_BOOLEAN;
        is_read = read_word(reader, *reader->rd_at == 't' ? "true" : "false");
        break;
    case 'n':
        value->js_kind = SIM_JSON_NULL;
        is_read = read_word(reader, "null");
        break;
    default:
        value->js_kind = SIM_JSON_NUMBER;
        is_read = peek(reader) == '-' || is_digit(peek(reader)) ? read_number(reader)
                                                                : stop(reader, "a value was expected");
        break;
    }
    value->js_end = reader->rd_at;
    return is_read;
}

bool sim_json_parse(const char *text, size_t size, struct sim_json *value, size_t *where, const char **why)
{
    struct reader reader = {.rd_at = text, .rd_end = text + size};
    bool is_read = read_value(&reader, value);
    if (is_read) {
        skip_space(&reader);
        is_read = reader.rd_at == reader.rd_end || stop(&reader, "something follows the value");
    }
    *where = (size_t)(reader.rd_at - text);
    *why = reader.rd_why;
    return is_read;
}

bool sim_json_member(struct sim_json object, const char *name, struct sim_json *value)
{
    if (object.js_kind != SIM_JSON_OBJECT)
        return false;
    struct reader reader = {.rd_at = object.js_start + 1, .rd_end = object.js_end};
    bool found = false;
    skip_space(&reader);
    while (peek(&reader) == '"') {
        struct sim_json key, member;
        if (!read_name(&reader, &key) || !read_value(&reader, &member))
            break;
        size_t length = (size_t)(key.js_end - key.js_start);
        if (strlen(name) == length && memcmp(key.js_start, name, length) == 0) {
            *value = member;
            found = true;
        }
        take(&reader, ',');
        skip_space(&reader);
    }
    return found;
}

bool sim_json_next(struct sim_json array, struct sim_json *element)
{
    if (array.js_kind != SIM_JSON_ARRAY)
        return false;
    bool first = element->js_start == NULL;
    const char *from = first ? array.js_start + 1 : element->js_end + (element->js_kind == SIM_JSON_STRING);
    struct reader reader = {.rd_at = from, .rd_end = array.js_end};
    if (!first && !take(&reader, ','))
        return false;
    skip_space(&reader);
    return peek(&reader) != ']' && read_value(&reader, element);
}

bool sim_json_text(struct sim_json object, const char *name, char *text, size_t size)
{
    struct sim_json value;
    if (!sim_json_member(object, name, &value))
        return true;
    size_t length = (size_t)(value.js_end - value.js_start);
    if (value.js_kind != SIM_JSON_STRING || length >= size)
        return false;
    memcpy(text, value.js_start, length);
    text[length] = '\0';
    return true;
}
