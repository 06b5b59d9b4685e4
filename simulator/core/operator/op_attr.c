/* Attributes of single operators: objects, each a list in the order in which the attributes were first set, guarded
 * by the object's lock. An execution works on its own copy. */
#include "op.h"
#include "base/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct sim_table attrs = SIM_OBJECT_TABLE(struct sim_op_attr, SIM_KIND_OP_ATTR);

aclopAttr *sim_op_attr_create(void)
{
    uint64_t handle;
    struct sim_op_attr *attr = sim_object_take(&attrs, &handle);
    if (attr == NULL)
        return NULL;
    attr->oa_attributes = (struct sim_attributes){0};
    return sim_object_publish(attr, handle);
}

struct sim_op_attr *sim_op_attr_open(const aclopAttr *handle)
{
    return sim_object_open(&attrs, handle, "attr", ACL_ERROR_INVALID_PARAM);
}

void sim_op_attr_destroy(struct sim_op_attr *attr)
{
    sim_op_attributes_drop(&attr->oa_attributes);
    sim_object_end(&attrs, attr);
}

/* ---- lists of attributes ---- */

static void drop_attribute(struct sim_attribute *attribute)
{
    free(attribute->at_name);
    free(attribute->at_values);
}

void sim_op_attributes_drop(struct sim_attributes *attributes)
{
    for (size_t i = 0; i < attributes->as_count; i++)
        drop_attribute(&attributes->as_list[i]);
    free(attributes->as_list);
    *attributes = (struct sim_attributes){0};
}

static struct sim_attribute *find(const struct sim_attributes *attributes, const char *name)
{
    for (size_t i = 0; i < attributes->as_count; i++)
        if (strcmp(attributes->as_list[i].at_name, name) == 0)
            return &attributes->as_list[i];
    return NULL;
}

const struct sim_attribute *sim_op_attributes_find(const struct sim_attributes *attributes, const char *name)
{
    return find(attributes, name);
}

static size_t size_of(enum sim_attribute_kind kind)
{
    return kind == SIM_ATTRIBUTE_INTEGERS ? sizeof(int64_t) : kind == SIM_ATTRIBUTE_FLOATS ? sizeof(float) : 1;
}

/* Copies values: the address is never NULL, even for zero values, and a text ends with NUL. Booleans become 0 and
 * 1, 32-bit integers 64-bit ones. */
static void *copy_values(const struct sim_attribute *value, size_t width)
{
    size_t size = size_of(value->at_kind);
    unsigned char *copy = calloc(value->at_count + 1, size);
    if (copy == NULL)
        return NULL;
    for (uint64_t i = 0; size != width && i < value->at_count; i++)
        ((int64_t *)(void *)copy)[i] = ((const int32_t *)value->at_values)[i];
    if (size == width && value->at_count != 0)
        memcpy(copy, value->at_values, value->at_count * size);
    for (uint64_t i = 0; value->at_kind == SIM_ATTRIBUTE_BOOLEANS && i < value->at_count; i++)
        copy[i] = copy[i] != 0;
    return copy;
}

static bool copy_attribute(const struct sim_attribute *from, size_t width, struct sim_attribute *to)
{
    *to = *from;
    to->at_name = strdup(from->at_name);
    if (from->at_values != NULL)
        to->at_values = copy_values(from, width);
    if (to->at_name != NULL && (to->at_values != NULL) == (from->at_values != NULL))
        return true;
    drop_attribute(to);
    return false;
}

/* Moves the attribute into the list, replacing one of the same name. */
static bool enter(struct sim_attributes *attributes, const struct sim_attribute *fresh)
{
    struct sim_attribute *former = find(attributes, fresh->at_name);
    if (former != NULL) {
        drop_attribute(former);
        *former = *fresh;
        return true;
    }
    size_t size = (attributes->as_count + 1) * sizeof *attributes->as_list;
    struct sim_attribute *list = realloc(attributes->as_list, size);
    if (list == NULL)
        return false;
    attributes->as_list = list;
    list[attributes->as_count++] = *fresh;
    return true;
}

static aclError refuse_memory(const char *name)
{
    return sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for attribute %s", name);
}

aclError sim_op_attr_set(const aclopAttr *handle, const char *name, const struct sim_attribute *value, size_t width)
{
    struct sim_attribute named = *value, fresh;
    named.at_name = (char *)(uintptr_t)name;
    if (!copy_attribute(&named, width, &fresh))
        return refuse_memory(name);
    struct sim_op_attr *attr = sim_op_attr_open(handle);
    aclError code = attr == NULL ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS;
    if (attr != NULL && !enter(&attr->oa_attributes, &fresh))
        code = refuse_memory(name);
    if (attr != NULL)
        sim_object_close(attr);
    if (code != ACL_SUCCESS)
        drop_attribute(&fresh);
    return code;
}

aclError sim_op_attributes_copy(const struct sim_attributes *from, struct sim_attributes *copy)
{
    *copy = (struct sim_attributes){.as_list = calloc(from->as_count + 1, sizeof *copy->as_list)};
    bool whole = copy->as_list != NULL;
    for (size_t i = 0; whole && i < from->as_count; i++) {
        whole = copy_attribute(&from->as_list[i], size_of(from->as_list[i].at_kind), &copy->as_list[i]);
        copy->as_count += whole;
    }
    if (whole)
        return ACL_SUCCESS;
    sim_op_attributes_drop(copy);
    return sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for the attributes");
}

aclError sim_op_attr_copy(const aclopAttr *handle, struct sim_attributes *copy)
{
    struct sim_op_attr *attr = sim_op_attr_open(handle);
    if (attr == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_op_attributes_copy(&attr->oa_attributes, copy);
    sim_object_close(attr);
    return code;
}

/* ---- as text ---- */

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    sim_output_text(out, text);
    fputc('"', out);
}

static void write_number(FILE *out, double number)
{
    if (isnan(number))
        fputs("NaN", out);
    else if (isinf(number))
        fputs(number < 0 ? "-Infinity" : "Infinity", out);
    else
        fprintf(out, "%.17g", number);
}

static void write_integers(FILE *out, const int64_t *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        fprintf(out, "%s%lld", i == 0 ? "[" : ", ", (long long)values[i]);
    fputs(count == 0 ? "[]" : "]", out);
}

static void write_floats(FILE *out, const float *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        fputs(i == 0 ? "[" : ", ", out);
        write_number(out, (double)values[i]);
    }
    fputs(count == 0 ? "[]" : "]", out);
}

static void write_booleans(FILE *out, const bool *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i == 0 ? "[" : ", ", values[i] ? "true" : "false");
    fputs(count == 0 ? "[]" : "]", out);
}

static void write_value(FILE *out, const struct sim_attribute *attribute)
{
    switch (attribute->at_kind) {
    case SIM_ATTRIBUTE_INTEGER:
        fprintf(out, "%lld", (long long)attribute->at_integer);
        break;
    case SIM_ATTRIBUTE_NUMBER:
        write_number(out, attribute->at_number);
        break;
    case SIM_ATTRIBUTE_TEXT:
        write_text(out, attribute->at_values);
        break;
    case SIM_ATTRIBUTE_BOOLEANS:
        write_booleans(out, attribute->at_values, attribute->at_count);
        break;
    case SIM_ATTRIBUTE_INTEGERS:
        write_integers(out, attribute->at_values, attribute->at_count);
        break;
    case SIM_ATTRIBUTE_FLOATS:
        write_floats(out, attribute->at_values, attribute->at_count);
        break;
    case SIM_ATTRIBUTE_JSON:
        fputs(attribute->at_values, out);
    }
}

/* Closes a text in memory; returns NULL if memory ran out. */
static char *finish(FILE *out, char **text)
{
    bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return *text;
    free(*text);
    return NULL;
}

char *sim_op_attributes_json(const struct sim_attributes *attributes)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fputc('{', out);
    for (size_t i = 0; i < attributes->as_count; i++) {
        fputs(i == 0 ? "" : ", ", out);
        write_text(out, attributes->as_list[i].at_name);
        fputs(": ", out);
        write_value(out, &attributes->as_list[i]);
    }
    fputc('}', out);
    return finish(out, &text);
}

/* The elements of a JSON list: texts, or lists of numbers. */
struct members {
    const char *const *me_texts; /* NULL: lists of numbers */
    const int *me_lengths;
    const int64_t *const *me_values;
};

static aclError set_list(const aclopAttr *handle, const char *name, size_t count, const struct members *members)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return refuse_memory(name);
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "" : ", ", out);
        if (members->me_texts != NULL)
            write_text(out, members->me_texts[i]);
        else
            write_integers(out, members->me_values[i], (uint64_t)members->me_lengths[i]);
    }
    fputc(']', out);
    char *json = finish(out, &text);
    if (json == NULL)
        return refuse_memory(name);
    aclError code = sim_op_attr_set(
        handle, name,
        &(struct sim_attribute){.at_kind = SIM_ATTRIBUTE_JSON, .at_values = json, .at_count = strlen(json)}, 1);
    free(json);
    return code;
}

aclError sim_op_attr_set_texts(const aclopAttr *handle, const char *name, size_t count, const char *const *values)
{
    return set_list(handle, name, count, &(struct members){.me_texts = values});
}

aclError sim_op_attr_set_lists(const aclopAttr *handle, const char *name, size_t count, const int *lengths,
                               const int64_t *const *values)
{
    return set_list(handle, name, count, &(struct members){.me_lengths = lengths, .me_values = values});
}

/* ---- the end of everything ---- */

static void destroy_attr(void *object)
{
    sim_op_attr_destroy(object);
}

void sim_op_attr_reset(void)
{
    sim_object_destroy_all(&attrs, destroy_attr);
}

void sim_op_attr_after_fork(void)
{
    sim_table_empty(&attrs);
}
