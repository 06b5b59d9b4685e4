/* This file opens bundles, loads and unloads their models, and answers queries about bundle files.
 *
 * Each call that works on a bundle keeps it alive. A bundle that is closed meanwhile is removed from the list, and the
 * last such call frees it. Ids are never reused.
 *
 * Locks: one lock, a leaf, guards the list of bundles. Models are loaded and unloaded outside this lock, because both
 * may call a registered user function. */
#include "model_bundle.h"
#include "address/memory.h"
#include <stdlib.h>
#include <string.h>

struct bundle {
    struct bundle *bu_next;
    uint32_t bu_id;
    struct sim_bytes bu_bytes; /* a copy; bu_file points into it */
    struct sim_bundle_file bu_file;
    void *bu_variables; /* memory that the bundle allocated, or NULL */
    uint32_t bu_models[SIM_BUNDLE_PARTS]; /* ids; 0: not loaded */
    uint32_t bu_users;
    bool bu_closed;
};

#define LOADING UINT32_MAX /* instead of an id, while a model is being loaded */

static struct sim_lock lock;
static struct bundle *bundles;
static uint32_t last_id;
static struct sim_table answers = SIM_OBJECT_TABLE(struct sim_bundle_answer, SIM_KIND_BUNDLE_QUERY);

/* ---- opening and closing ---- */

static struct bundle **find(uint32_t id)
{
    struct bundle **at = &bundles;
    while (*at != NULL && (*at)->bu_id != id)
        at = &(*at)->bu_next;
    return at;
}

static aclError unknown(uint32_t id)
{
    return sim_refuse(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, "bundleId is %u, expected the id of a bundle that is open",
                      id);
}

static void free_bundle(struct bundle *bundle)
{
    if (bundle->bu_variables != NULL && sim_memory_engine(bundle->bu_variables) != NULL)
        sim_memory_release(bundle->bu_variables, NULL);
    sim_model_free_bytes(bundle->bu_bytes);
    free(bundle);
}

static aclError fill(struct bundle *bundle, struct sim_bytes bytes, const void *variables, uint64_t size)
{
    unsigned char *copy = malloc(bytes.by_size);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for the bundle");
    memcpy(copy, bytes.by_data, bytes.by_size);
    bundle->bu_bytes = (struct sim_bytes){copy, bytes.by_size};
    SIM_TRY(sim_model_format->mf_bundle(bundle->bu_bytes, &bundle->bu_file));
    uint64_t needed = bundle->bu_file.bf_variables;
    SIM_ARGUMENT(variables == NULL || size >= needed, ACL_ERROR_GE_PARAM_INVALID,
                 "varWeightSize is %llu, expected at least %llu", (unsigned long long)size, (unsigned long long)needed);
    return variables == NULL && needed != 0 ? sim_memory_take(&bundle->bu_variables, needed) : ACL_SUCCESS;
}

aclError sim_model_bundle_open(struct sim_bytes bytes, void *variables, uint64_t size, uint32_t *id)
{
    struct sim_file file;
    SIM_TRY(sim_model_format->mf_view(bytes, &file)); /* before anything is copied */
    struct bundle *bundle = calloc(1, sizeof *bundle);
    SIM_ARGUMENT(bundle != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for the bundle");
    bundle->bu_users = 1;
    aclError code = fill(bundle, bytes, variables, size);
    if (code != ACL_SUCCESS) {
        free_bundle(bundle);
        return code;
    }
    sim_lock(&lock);
    *id = bundle->bu_id = ++last_id;
    bundle->bu_next = bundles;
    bundles = bundle;
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

static void put(struct bundle *bundle)
{
    sim_lock(&lock);
    bool last = --bundle->bu_users == 0;
    sim_unlock(&lock);
    if (last)
        free_bundle(bundle);
}

/* Unloads the models of a bundle that was removed from the list. */
static void unload_all(struct bundle *bundle)
{
    for (uint32_t i = 0; i < bundle->bu_file.bf_count; i++) {
        sim_lock(&lock);
        uint32_t model = bundle->bu_models[i];
        sim_unlock(&lock);
        if (model != 0 && model != LOADING)
            sim_model_unload(model, bundle->bu_id);
    }
    put(bundle);
}

aclError sim_model_bundle_close(uint32_t id)
{
    SIM_TRY(sim_engine_may_wait());
    sim_lock(&lock);
    struct bundle **at = find(id), *bundle = *at;
    if (bundle != NULL) {
        *at = bundle->bu_next;
        bundle->bu_closed = true;
    }
    sim_unlock(&lock);
    if (bundle == NULL)
        return unknown(id);
    unload_all(bundle);
    return ACL_SUCCESS;
}

/* ---- the models of a bundle ---- */

aclError sim_model_bundle_count(uint32_t id, size_t *count)
{
    sim_lock(&lock);
    const struct bundle *bundle = *find(id);
    if (bundle != NULL)
        *count = bundle->bu_file.bf_count;
    sim_unlock(&lock);
    return bundle != NULL ? ACL_SUCCESS : unknown(id);
}

static aclError check_index(const struct bundle *bundle, uint32_t id, size_t index)
{
    if (bundle == NULL)
        return unknown(id);
    SIM_ARGUMENT(index < bundle->bu_file.bf_count, ACL_ERROR_INVALID_PARAM, "index is %zu, expected less than %u",
                 index, bundle->bu_file.bf_count);
    return ACL_SUCCESS;
}

aclError sim_model_bundle_model(uint32_t id, size_t index, uint32_t *model)
{
    sim_lock(&lock);
    const struct bundle *bundle = *find(id);
    aclError code = check_index(bundle, id, index);
    if (code == ACL_SUCCESS)
        *model = bundle->bu_models[index];
    bool loaded = code == ACL_SUCCESS && *model != 0 && *model != LOADING;
    sim_unlock(&lock);
    SIM_ARGUMENT(code != ACL_SUCCESS || loaded, ACL_ERROR_API_NOT_SUPPORT,
                 "model %zu of bundle %u is not loaded, expected aclmdlBundleLoadModel before", index, id);
    return code;
}

/* Marks the model as being loaded, and keeps the bundle alive. */
static aclError reserve(uint32_t id, size_t index, struct bundle **bundle)
{
    sim_lock(&lock);
    *bundle = *find(id);
    aclError code = check_index(*bundle, id, index);
    if (code == ACL_SUCCESS && (*bundle)->bu_models[index] != 0)
        code = sim_refuse(ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED, "model %zu of bundle %u is loaded already", index, id);
    if (code == ACL_SUCCESS) {
        (*bundle)->bu_models[index] = LOADING;
        (*bundle)->bu_users++;
    }
    sim_unlock(&lock);
    return code;
}

aclError sim_model_bundle_load(uint32_t id, size_t index, struct sim_load load, uint32_t *model)
{
    struct bundle *bundle;
    SIM_TRY(reserve(id, index, &bundle));
    load.lo_model = bundle->bu_file.bf_models[index];
    load.lo_bundle = id;
    aclError code = sim_model_load(&load, model);
    sim_lock(&lock);
    bundle->bu_models[index] = code == ACL_SUCCESS ? *model : 0;
    bool late = bundle->bu_closed && code == ACL_SUCCESS;
    sim_unlock(&lock);
    put(bundle);
    if (!late)
        return code;
    sim_model_unload(*model, id);
    return unknown(id);
}

aclError sim_model_bundle_unload(uint32_t id, uint32_t model)
{
    SIM_TRY(sim_engine_may_wait());
    sim_lock(&lock);
    struct bundle *bundle = *find(id);
    bool found = false;
    for (uint32_t i = 0; bundle != NULL && model != 0 && model != LOADING && i < bundle->bu_file.bf_count; i++)
        if (bundle->bu_models[i] == model) {
            bundle->bu_models[i] = 0;
            found = true;
        }
    sim_unlock(&lock);
    if (bundle == NULL)
        return unknown(id);
    SIM_ARGUMENT(found, ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "modelId is %u, which is not a loaded model of bundle %u",
                 model, id);
    return sim_model_unload(model, id);
}

/* ---- queries ---- */

struct sim_bundle_answer *sim_model_bundle_answer_open(const aclmdlBundleQueryInfo *handle)
{
    return sim_object_open(&answers, handle, "queryInfo", ACL_ERROR_INVALID_PARAM);
}

aclmdlBundleQueryInfo *sim_model_bundle_answer_create(void)
{
    uint64_t handle;
    struct sim_bundle_answer *answer = sim_object_take(&answers, &handle);
    if (answer == NULL)
        return NULL;
    answer->an_count = 0;
    return sim_object_publish(answer, handle);
}

void sim_model_bundle_answer_destroy(struct sim_bundle_answer *answer)
{
    sim_object_end(&answers, answer);
}

aclError sim_model_bundle_ask(struct sim_bundle_answer *answer, struct sim_bytes bytes)
{
    struct sim_bundle_file bundle;
    answer->an_count = 0;
    SIM_TRY(sim_model_format->mf_bundle(bytes, &bundle));
    for (uint32_t i = 0; i < bundle.bf_count; i++) {
        struct sim_file file;
        struct sim_signature *signature;
        SIM_TRY(sim_model_format->mf_view(bundle.bf_models[i], &file));
        SIM_TRY(sim_model_format->mf_signature(&file, &signature));
        answer->an_sizes[i][0] = signature->sg_work;
        answer->an_sizes[i][1] = signature->sg_weight;
        sim_model_signature_drop(signature);
    }
    answer->an_variables = bundle.bf_variables;
    answer->an_count = bundle.bf_count;
    return ACL_SUCCESS;
}

/* ---- reset and fork ---- */

static void destroy(void *answer)
{
    sim_model_bundle_answer_destroy(answer);
}

void sim_model_bundle_reset(void)
{
    sim_object_destroy_all(&answers, destroy);
    sim_lock(&lock);
    struct bundle *all = bundles;
    bundles = NULL;
    sim_unlock(&lock);
    while (all != NULL) {
        struct bundle *next = all->bu_next;
        unload_all(all);
        all = next;
    }
}

void sim_model_bundle_after_fork(void)
{
    sim_lock_renew(&lock);
    bundles = NULL;
    sim_table_empty(&answers);
}
