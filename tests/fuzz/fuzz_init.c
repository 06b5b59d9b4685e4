/* The reader of JSON on any bytes, and aclInit on a file of the same bytes. */
#include "fuzz.h"
#include "base/json.h"
#include "engine/init.h"

#include <acl/acl.h>
#include <string.h>

static void check_view(struct sim_json value, const char *text, size_t size)
{
    ENSURE(value.js_start >= text && value.js_start <= value.js_end && value.js_end <= text + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *why = NULL;
    struct sim_json root, value;
    size_t where;
    bool is_object = size == 0; /* an empty file counts as an empty object */
    if (sim_json_parse(text, size, &root, &where, &why)) {
        check_view(root, text, size);
        is_object = root.js_kind == SIM_JSON_OBJECT;
        if (sim_json_member(root, "dump", &value)) {
            ENSURE(is_object);
            check_view(value, text, size);
        }
    } else {
        ENSURE(where <= size && why != NULL && *why != '\0');
    }

    const char *path = file_of(data, size);
    aclError code = aclInit(path);
    switch (code) {
    case ACL_SUCCESS:
        ENSURE(is_object && aclFinalize() == ACL_SUCCESS);
        /* Sizes of stacks that the chip does not have are ignored, with a message. */
        ENSURE(aclGetRecentErrMsg() == NULL || sim_json_member(root, "StackSize", &value));
        break;
    case ACL_ERROR_PARSE_FILE: /* also for brackets nested deeper than the reader minds, so is_object may be true */
        break;
    case ACL_ERROR_FAILURE:
    case ACL_ERROR_INVALID_FILE:
    case ACL_ERROR_INVALID_PARAM:
    case ACL_ERROR_INVALID_DUMP_CONFIG:
    case ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG:
    case ACL_ERROR_INVALID_PROFILING_CONFIG:
    case ACL_ERROR_RT_PARAM_INVALID:
        ENSURE(is_object);
        break;
    default:
        ENSURE(!"a code that no content of a file gives");
    }
    if (code != ACL_SUCCESS) {
        const char *message = aclGetRecentErrMsg();
        ENSURE(message != NULL && strstr(message, "aclInit failed because") != NULL);
    }
    sim_init_reset();
    return 0;
}
