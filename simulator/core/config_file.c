#include "config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE (10 << 20)
#define MAX_NESTING 10

aclError sim_config_file_read(const char *path, const char *argument, char **content, size_t *size)
{
    struct stat status = {0};
    FILE *file = *path != '\0' ? fopen(path, "re") : NULL;
    if (*path != '\0') {
        SIM_ARGUMENT(file != NULL, ACL_ERROR_INVALID_FILE, "%s is \"%s\", which cannot be opened: %s", argument,
                     path, strerror(errno));
        if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > MAX_FILE) {
            fclose(file);
            return sim_refuse(ACL_ERROR_INVALID_FILE,
                              "%s is \"%s\", expected a regular file of at most 10 MiB", argument, path);
        }
    }
    *content = calloc(1, (size_t)status.st_size + 1);
    *size = *content != NULL && file != NULL ? fread(*content, 1, (size_t)status.st_size, file) : 0;
    if (file != NULL)
        fclose(file);
    SIM_ARGUMENT(*content != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for the file \"%s\"", path);
    return ACL_SUCCESS;
}

/* As the vendor counts it: brackets inside strings too. */
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
