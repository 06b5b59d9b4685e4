/* Reading and checking JSON files of programs (config_file.h).
 *
 * The caller owns the text, into which the values point. There is no shared state and no lock. */
#include "config_file.h"
#include "bytes.h"

#include <stdlib.h>

#define MAX_FILE (10 << 20)
#define MAX_NESTING 10

aclError sim_config_file_read(const char *path, const char *argument, char **content, size_t *size)
{
    static const struct sim_read_codes codes = {ACL_ERROR_INVALID_FILE, ACL_SUCCESS, ACL_ERROR_BAD_ALLOC, MAX_FILE};
    struct sim_bytes bytes = {NULL, 0};
    if (*path != '\0')
        SIM_TRY(sim_bytes_read(path, argument, &codes, &bytes));
    *content = *path != '\0' ? (char *)(uintptr_t)bytes.by_data : calloc(1, 1);
    *size = bytes.by_size;
    SIM_ARGUMENT(*content != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for an empty file");
    return ACL_SUCCESS;
}

/* Counts like the vendor, including brackets inside strings. */
static bool nests_too_deep(const char *content, size_t size, char opening, char closing)
{
    int depth = 0;
    for (size_t i = 0; i < size; i++) {
        depth += (content[i] == opening) - (content[i] == closing);
        if (depth > MAX_NESTING)
            return true;
    }
    return false;
}

aclError sim_config_file_parse(const char *content, size_t size, const char *argument, struct sim_json *root)
{
    static const char nothing[] = "{}";
    *root = (struct sim_json){SIM_JSON_OBJECT, nothing, nothing + 2};
    if (size == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(!nests_too_deep(content, size, '{', '}') && !nests_too_deep(content, size, '[', ']'),
                 ACL_ERROR_PARSE_FILE, "the file of %s nests objects or arrays more than %d deep", argument,
                 MAX_NESTING);
    size_t where;
    const char *why;
    SIM_ARGUMENT(sim_json_parse(content, size, root, &where, &why), ACL_ERROR_PARSE_FILE,
                 "the file of %s is not JSON at byte %zu: %s", argument, where, why);
    SIM_ARGUMENT(root->js_kind == SIM_JSON_OBJECT, ACL_ERROR_PARSE_FILE,
                 "the file of %s holds no JSON object, expected {...}", argument);
    return ACL_SUCCESS;
}
