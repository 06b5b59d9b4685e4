/* This file provides descriptions of models, with aliases for long names. A description shares its model's signature,
 * which never changes. The object's lock guards the pointer to it. */
#include "model.h"
#include <stdio.h>
#include <string.h>

static struct sim_table descs = SIM_OBJECT_TABLE(struct sim_model_desc, SIM_KIND_MODEL_DESC);

struct sim_model_desc *sim_model_desc_open(const aclmdlDesc *handle)
{
    return sim_object_open(&descs, handle, "modelDesc", ACL_ERROR_INVALID_PARAM);
}

aclmdlDesc *sim_model_desc_create(void)
{
    uint64_t handle;
    struct sim_model_desc *desc = sim_object_take(&descs, &handle);
    return desc == NULL ? NULL : sim_object_publish(desc, handle);
}

void sim_model_desc_fill(struct sim_model_desc *desc, struct sim_signature *signature, uint32_t id)
{
    sim_model_signature_drop(desc->ds_signature);
    desc->ds_signature = signature;
    desc->ds_id = id;
}

void sim_model_desc_destroy(struct sim_model_desc *desc)
{
    sim_model_desc_fill(desc, NULL, 0);
    sim_object_end(&descs, desc);
}

/* ---- names ---- */

static bool is_name(const struct sim_signature *signature, const char *name)
{
    return sim_model_port_find(signature->sg_inputs, signature->sg_input_count, name) != signature->sg_input_count ||
           sim_model_port_find(signature->sg_outputs, signature->sg_output_count, name) != signature->sg_output_count;
}

void sim_model_desc_name(const struct sim_model_desc *desc, uint32_t index, bool input,
                         char name[ACL_MAX_TENSOR_NAME_LEN])
{
    const struct sim_signature *signature = desc->ds_signature;
    const char *real = input ? signature->sg_inputs[index].po_name : signature->sg_outputs[index].po_name;
    if (strlen(real) < ACL_MAX_TENSOR_NAME_LEN) {
        strcpy(name, real);
        return;
    }
    int length = snprintf(name, ACL_MAX_TENSOR_NAME_LEN, "acl_modelId_%u_%s_%u", desc->ds_id,
                          input ? "input" : "output", index);
    while (is_name(signature, name) && length < ACL_MAX_TENSOR_NAME_LEN - 3)
        length += snprintf(name + length, 3, "_a");
}

const char *sim_model_desc_real_name(const struct sim_model_desc *desc, const char *name)
{
    const struct sim_signature *signature = desc->ds_signature;
    char shown[ACL_MAX_TENSOR_NAME_LEN];
    for (int input = 1; input >= 0 && signature != NULL; input--) {
        const struct sim_port *ports = input ? signature->sg_inputs : signature->sg_outputs;
        uint32_t count = input ? signature->sg_input_count : signature->sg_output_count;
        for (uint32_t i = 0; i < count; i++) {
            sim_model_desc_name(desc, i, input, shown);
            if (strcmp(name, shown) == 0 || strcmp(name, ports[i].po_name) == 0)
                return ports[i].po_name;
        }
    }
    return NULL;
}

static void destroy(void *desc)
{
    sim_model_desc_destroy(desc);
}

void sim_model_desc_reset(void)
{
    sim_object_destroy_all(&descs, destroy);
}

void sim_model_desc_after_fork(void)
{
    sim_table_empty(&descs);
}
