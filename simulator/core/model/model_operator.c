/* This file checks model files of single operators. It keeps nothing of them, because operators are executed by their
 * schemas. This file has no state and needs no lock. */
#include "model.h"

aclError sim_model_operator_check(const void *model, size_t size)
{
    struct sim_file file;
    struct sim_signature *signature;
    const struct sim_bytes bytes = {model, size};
    SIM_ARGUMENT(sim_model_format->mf_view(bytes, &file) == ACL_SUCCESS, ACL_ERROR_PARSE_MODEL,
                 "the %zu bytes at %p are not a model file: the message before this one says why", size, model);
    SIM_ARGUMENT(sim_model_format->mf_signature(&file, &signature) == ACL_SUCCESS, ACL_ERROR_DESERIALIZE_MODEL,
                 "the model at %p cannot be read: the message before this one says why", model);
    aclError code = sim_model_check_soc(signature);
    sim_model_signature_drop(signature);
    return code;
}

aclError sim_model_operator_check_file(const char *path)
{
    struct sim_bytes bytes;
    SIM_ARGUMENT(sim_model_read(path, &bytes) == ACL_SUCCESS, ACL_ERROR_READ_MODEL_FAILURE, "%s cannot be read", path);
    aclError code = sim_model_operator_check(bytes.by_data, bytes.by_size);
    sim_model_free_bytes(bytes);
    return code;
}
