/* The table of data types for Python (acl/data_types.py); the build puts SIM_DATA_TYPES in front of it. */

struct acl_data_type {
    int code, bits, number;
    const char *name, *numpy, *package;
};

/* NULL behind the last one. */
static const struct acl_data_type *acl_data_type(size_t index)
{
#define ACL_DATA_TYPE(constant, name, bits, numpy, package, number) {constant, bits, number, name, numpy, package},
    static const struct acl_data_type types[] = {SIM_DATA_TYPES(ACL_DATA_TYPE)};
    return index < sizeof types / sizeof *types ? &types[index] : NULL;
}
