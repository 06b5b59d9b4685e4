/* Entry points of attributes of single operators. */
#include "operator/op.h"

#define MANY 65536  /* elements of a list */
#define LISTS 1024  /* lists in a list of lists, and elements in each of them */

aclopAttr *aclopCreateAttr(void)
{
    SIM_ENTER();
    return sim_op_attr_create();
}

void aclopDestroyAttr(const aclopAttr *attr)
{
    SIM_ENTER();
    struct sim_op_attr *found = attr != NULL ? sim_op_attr_open(attr) : NULL;
    if (found != NULL)
        sim_op_attr_destroy(found);
}

static aclError set(const aclopAttr *attr, const char *attrName, const struct sim_attribute *value, size_t width)
{
    SIM_NOT_NULL(attr);
    SIM_NOT_NULL(attrName);
    return sim_op_attr_set(attr, attrName, value, width);
}

static aclError set_integer(const aclopAttr *attr, const char *attrName, int64_t value)
{
    return set(attr, attrName, &(struct sim_attribute){.at_kind = SIM_ATTRIBUTE_INTEGER, .at_integer = value}, 0);
}

aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue)
{
    SIM_ENTER();
    return set_integer(attr, attrName, attrValue != 0);
}

aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue)
{
    SIM_ENTER();
    return set_integer(attr, attrName, attrValue);
}

aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName, aclDataType attrValue)
{
    SIM_ENTER();
    return set_integer(attr, attrName, attrValue);
}

aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue)
{
    SIM_ENTER();
    return set(attr, attrName,
               &(struct sim_attribute){.at_kind = SIM_ATTRIBUTE_NUMBER, .at_number = (double)attrValue}, 0);
}

aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue)
{
    SIM_ENTER();
    SIM_NOT_NULL(attrValue);
    return set(attr, attrName,
               &(struct sim_attribute){.at_kind = SIM_ATTRIBUTE_TEXT, .at_values = (char *)(uintptr_t)attrValue,
                                       .at_count = strlen(attrValue)}, 1);
}

/* ---- lists ---- */

static aclError check_count(const char *name, int count, int most)
{
    SIM_ARGUMENT(count >= 0 && count <= most, ACL_ERROR_INVALID_PARAM, "%s is %d, expected 0 to %d", name, count, most);
    return ACL_SUCCESS;
}

static aclError check_list(int count, const void *values)
{
    SIM_TRY(check_count("numValues", count, MANY));
    SIM_ARGUMENT(count == 0 || values != NULL, ACL_ERROR_INVALID_PARAM, "values is NULL with numValues %d, expected an "
                 "array", count);
    return ACL_SUCCESS;
}

static aclError set_list(const aclopAttr *attr, const char *attrName, enum sim_attribute_kind kind, int count,
                         const void *values, size_t width)
{
    SIM_TRY(check_list(count, values));
    return set(attr, attrName,
               &(struct sim_attribute){.at_kind = kind, .at_values = (void *)(uintptr_t)(count != 0 ? values : ""),
                                       .at_count = (uint64_t)count}, width);
}

aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues, const uint8_t *values)
{
    SIM_ENTER();
    return set_list(attr, attrName, SIM_ATTRIBUTE_BOOLEANS, numValues, values, sizeof *values);
}

aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues, const int64_t *values)
{
    SIM_ENTER();
    return set_list(attr, attrName, SIM_ATTRIBUTE_INTEGERS, numValues, values, sizeof *values);
}

aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName, int numValues, const aclDataType values[])
{
    SIM_ENTER();
    return set_list(attr, attrName, SIM_ATTRIBUTE_INTEGERS, numValues, values, sizeof *values);
}

aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues, const float *values)
{
    SIM_ENTER();
    return set_list(attr, attrName, SIM_ATTRIBUTE_FLOATS, numValues, values, sizeof *values);
}

aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues, const char **values)
{
    SIM_ENTER();
    SIM_NOT_NULL(attr);
    SIM_NOT_NULL(attrName);
    SIM_TRY(check_list(numValues, values));
    SIM_TRY(check_count("numValues", numValues, LISTS));
    for (int i = 0; i < numValues; i++)
        SIM_ARGUMENT(values[i] != NULL, ACL_ERROR_INVALID_PARAM, "values[%d] is NULL, expected a string", i);
    return sim_op_attr_set_texts(attr, attrName, (size_t)numValues, values);
}

aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists, const int *numValues,
                                 const int64_t *const values[])
{
    SIM_ENTER();
    SIM_NOT_NULL(attr);
    SIM_NOT_NULL(attrName);
    SIM_TRY(check_count("numLists", numLists, LISTS));
    SIM_ARGUMENT(numLists == 0 || (numValues != NULL && values != NULL), ACL_ERROR_INVALID_PARAM,
                 "numValues is %p and values is %p with numLists %d, expected arrays", (const void *)numValues,
                 (const void *)values, numLists);
    for (int i = 0; i < numLists; i++) {
        SIM_TRY(check_count("numValues", numValues[i], LISTS));
        SIM_ARGUMENT(numValues[i] == 0 || values[i] != NULL, ACL_ERROR_INVALID_PARAM,
                     "values[%d] is NULL with numValues %d, expected an array", i, numValues[i]);
    }
    return sim_op_attr_set_lists(attr, attrName, (size_t)numLists, numValues, values);
}
