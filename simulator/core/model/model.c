/* This file loads and unloads models, and finds them by id.
 *
 * Each execution and each call that uses a model keeps it alive; the last user frees it. A model is found by its id in
 * an array that only grows. Ids are never reused, so looking up a stale id finds no model.
 *
 * Locks: one lock guards the array and the counts of users. A model's own lock guards the records of its newest
 * executions, one per stream, which unloading waits for. Both locks are leaves. */
#include "address/memory.h"
#include "base/config.h"
#include "base/site.h"
#include "base/watcher.h"
#include "engine/context.h"
#include "engine/init.h"
#include "memory/memory_copy.h"
#include "model_aipp.h"
#include "model_bundle.h"
#include "model_config.h"
#include "model_queue.h"
#include <stdlib.h>
#include <string.h>

const struct sim_model_observer *sim_model_observer;

static struct sim_lock lock;
static struct sim_model **models; /* by id */
static uint32_t count, room;      /* id 0 is never used */

void sim_model_free_bytes(struct sim_bytes bytes)
{
    free((void *)(uintptr_t)bytes.by_data);
}

/* ---- ids ---- */

static bool give_id(struct sim_model *model)
{
    sim_lock(&lock);
    if (count == room) {
        uint32_t more = room == 0 ? 16 : 2 * room;
        struct sim_model **grown = realloc(models, more * sizeof *grown);
        if (grown == NULL) {
            sim_unlock(&lock);
            return false;
        }
        models = grown;
        room = more;
        if (count == 0)
            models[count++] = NULL;
    }
    model->mo_id = count;
    models[count++] = NULL;
    sim_unlock(&lock);
    return true;
}

struct sim_model *sim_model_peek(uint32_t id)
{
    sim_lock(&lock);
    struct sim_model *model = id < count ? models[id] : NULL;
    if (model != NULL)
        model->mo_users++;
    sim_unlock(&lock);
    return model;
}

/* Returns the number above all ids. */
static uint32_t end_of_ids(void)
{
    sim_lock(&lock);
    uint32_t end = count;
    sim_unlock(&lock);
    return end;
}

size_t sim_model_count(void)
{
    size_t loaded = 0;
    sim_lock(&lock);
    for (uint32_t id = 0; id < count; id++)
        loaded += models[id] != NULL;
    sim_unlock(&lock);
    return loaded;
}

void sim_model_each(void (*visit)(const struct sim_model *model, void *context), void *context)
{
    sim_lock(&lock);
    for (uint32_t id = 0; id < count; id++)
        if (models[id] != NULL)
            visit(models[id], context);
    sim_unlock(&lock);
}

aclError sim_model_open(uint32_t id, struct sim_model **model)
{
    *model = sim_model_peek(id);
    SIM_ARGUMENT(*model != NULL, ACL_ERROR_GE_EXEC_MODEL_ID_INVALID,
                 "modelId is %u, expected the id of a loaded model", id);
    return ACL_SUCCESS;
}

/* Calls the function registered for the kind of file, to open or close the model. */
static aclError tell(const struct sim_model *model, aclsimModelMoment moment, char reason[SIM_REASON_BYTES])
{
    aclsimModelRun order = {.name = model->mo_signature->sg_name, .modelId = model->mo_id, .moment = moment,
                            .weights = model->mo_content.by_data, .weightSize = model->mo_content.by_size,
                            .userData = model->mo_executor.me_user};
    return sim_model_call(&model->mo_executor, &order, reason);
}

static void free_model(struct sim_model *model)
{
    const struct sim_model_executor *executor = &model->mo_executor;
    char unheard[SIM_REASON_BYTES];
    if (executor->me_close != NULL)
        executor->me_close(executor->me_state);
    if (executor->me_for_kind)
        tell(model, ACLSIM_MODEL_CLOSE, unheard);
    sim_model_free_bytes(model->mo_content);
    sim_model_observer->ov_dump_drop(model->mo_dump);
    sim_model_signature_drop(model->mo_signature);
    free(model->mo_records);
    free(model);
}

void sim_model_close(struct sim_model *model)
{
    sim_lock(&lock);
    bool last = --model->mo_users == 0;
    sim_unlock(&lock);
    if (last)
        free_model(model);
}

/* ---- files ---- */

aclError sim_model_read(const char *path, struct sim_bytes *bytes)
{
    static const struct sim_read_codes codes = {ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID,
                                                ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID,
                                                ACL_ERROR_GE_MEMORY_ALLOCATION, 0};
    return sim_model_find_bytes(path, bytes) ? ACL_SUCCESS : sim_bytes_read(path, "modelPath", &codes, bytes);
}

/* ---- loading ---- */

/* Files may have the short name of a chip. Finds a chip with that name; NULL if none can be simulated. */
static const struct sim_soc *find_short(const char *name)
{
    for (size_t i = 0; i < sim_soc_count; i++)
        if (strcmp(sim_socs[i].so_short, name) == 0)
            return &sim_socs[i];
    return NULL;
}

aclError sim_model_check_soc(const struct sim_signature *signature)
{
    const struct sim_soc *soc = sim_config()->cf_soc, *built = sim_soc_find(signature->sg_soc);
    const char *wanted = built != NULL ? built->so_short : signature->sg_soc;
    if (*wanted == '\0' || strcmp(wanted, soc->so_short) == 0)
        return ACL_SUCCESS;
    built = built != NULL ? built : find_short(wanted);
    return sim_refuse(ACL_ERROR_GE_PARAM_INVALID, "the model was built for %s, and the device is a %s%s%s",
                      signature->sg_soc, soc->so_name, built == NULL ? "" : ": run with ACL_SIM_SOC=",
                      built == NULL ? "" : built->so_name);
}

/* One part of the model's memory: checks the size of the program's memory, or allocates it. */
static aclError find_memory(void *given, uint64_t size, uint64_t needed, const char *name, void **own)
{
    if (given != NULL) {
        SIM_ARGUMENT(size >= needed, ACL_ERROR_GE_PARAM_INVALID, "%sSize is %llu, expected at least %llu", name,
                     (unsigned long long)size, (unsigned long long)needed);
        return ACL_SUCCESS;
    }
    return needed == 0 ? ACL_SUCCESS : sim_memory_take(own, needed);
}

void sim_model_release(void *memory)
{
    if (memory != NULL && sim_memory_engine(memory) != NULL) /* NULL after a reset of the device */
        sim_memory_release(memory, NULL);
}

/* Chooses the executor for the kind of file: a registered one, otherwise a built-in one. A model of an unknown kind can
 * be loaded, but its executions fail. */
static aclError open_executor(struct sim_model *model, struct sim_bytes weights)
{
    const char *kind = model->mo_signature->sg_executor;
    struct sim_model_executor found = {0};
    bool registered = sim_model_find_kind(kind, &found);
    const struct sim_model_kind *own = sim_model_format->mf_kinds;
    while (own->mk_name != NULL && strcmp(kind, own->mk_name) != 0)
        own++;
    if (own->mk_name == NULL && !registered)
        return ACL_SUCCESS;
    unsigned char *copy = malloc(weights.by_size + 1);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for the model's weights");
    if (weights.by_size != 0)
        memcpy(copy, weights.by_data, weights.by_size);
    model->mo_content = (struct sim_bytes){copy, weights.by_size};
    if (!registered)
        return own->mk_open(model->mo_content, &model->mo_executor);
    model->mo_executor = found;
    return ACL_SUCCESS;
}

static aclError fill(struct sim_model *model, const struct sim_file *file, const struct sim_load *load)
{
    struct sim_bytes weights;
    const struct sim_signature *signature = model->mo_signature;
    SIM_TRY(sim_model_check_soc(signature));
    SIM_ARGUMENT(!load->lo_without_graph || !signature->sg_dynamic, ACL_ERROR_INVALID_PARAM,
                 "ACL_MDL_WITHOUT_GRAPH_INT32 was set, and the shapes of the model are known only after an execution");
    atomic_init(&model->mo_priority, load->lo_priority);
    model->mo_dump = sim_model_observer->ov_dump_open(signature->sg_name);
    if (!signature->sg_dynamic)
        SIM_TRY(find_memory(load->lo_work, load->lo_work_size, signature->sg_work, "work", &model->mo_work));
    SIM_TRY(find_memory(load->lo_weights, load->lo_weight_size, signature->sg_weight, "weight", &model->mo_weights));
    bool has_weights = sim_model_format->mf_part(file, SIM_PART_WEIGHTS, &weights);
    void *target = load->lo_weights != NULL ? load->lo_weights : model->mo_weights;
    if (target != NULL && has_weights && weights.by_size <= signature->sg_weight)
        SIM_TRY(sim_memory_copy(target, weights.by_data, weights.by_size));
    if (sim_model_find_function(load->lo_path, signature->sg_name, &model->mo_executor))
        return ACL_SUCCESS;
    return *signature->sg_executor == '\0' ? ACL_SUCCESS : open_executor(model, weights);
}

/* Opens the model for its executor, and makes it available under its id. Adds a user, which the caller removes: another
 * thread that guesses the id may unload the model at once. */
static aclError publish(struct sim_model *model)
{
    if (model->mo_executor.me_for_kind) {
        char reason[SIM_REASON_BYTES];
        aclError code = tell(model, ACLSIM_MODEL_OPEN, reason);
        SIM_ARGUMENT(code == ACL_SUCCESS, code, "its executor (%s) does not take the model%s",
                     model->mo_signature->sg_executor, reason);
    }
    model->mo_users++;
    sim_lock(&lock);
    models[model->mo_id] = model;
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

/* Starts the feeder; unloads the model if that fails. */
static aclError start_feeder(struct sim_model *model, const struct sim_load_queues *queues)
{
    struct sim_feeder *feeder;
    aclError code = sim_model_queue_start(model, queues, &feeder);
    if (code == ACL_SUCCESS)
        atomic_store_explicit(&model->mo_feeder, feeder, memory_order_release);
    else
        sim_model_unload(model->mo_id, 0);
    return code;
}

aclError sim_model_load(const struct sim_load *load, uint32_t *id)
{
    struct sim_file file;
    SIM_ARGUMENT(sim_init_is_done(), ACL_ERROR_GE_EXEC_NOT_INIT, "aclInit was not called, expected it before");
    SIM_TRY(sim_model_format->mf_view(load->lo_model, &file));
    SIM_ARGUMENT(file.fi_kind != SIM_FILE_BUNDLE, ACL_ERROR_GE_PARAM_INVALID,
                 "the file holds a bundle of models, expected aclmdlBundleLoadFromFile");
    struct sim_model *model = calloc(1, sizeof *model);
    SIM_ARGUMENT(model != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a model");
    model->mo_users = 1;
    model->mo_bundle = load->lo_bundle;
    model->mo_site = sim_watcher_any() && !sim_thread.th_is_library ? sim_site_of_call() : NULL;
    atomic_init(&model->mo_gear, SIM_EVERY_GEAR);
    aclError code = sim_model_format->mf_signature(&file, &model->mo_signature);
    if (code == ACL_SUCCESS)
        code = fill(model, &file, load);
    if (code == ACL_SUCCESS && !give_id(model))
        code = sim_refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a model");
    if (code == ACL_SUCCESS)
        code = publish(model);
    if (code == ACL_SUCCESS) {
        uint32_t given = model->mo_id;
        if (load->lo_queues != NULL)
            code = start_feeder(model, load->lo_queues);
        if (code == ACL_SUCCESS)
            *id = given;
        sim_model_close(model);
        return code;
    }
    sim_model_release(model->mo_work);
    sim_model_release(model->mo_weights);
    model->mo_executor.me_for_kind = false;
    free_model(model);
    return code;
}

/* ---- unloading ---- */

static void stop_feeder(struct sim_model *model)
{
    struct sim_feeder *feeder = atomic_exchange_explicit(&model->mo_feeder, NULL, memory_order_acq_rel);
    if (feeder != NULL)
        sim_model_queue_stop(feeder);
}

void sim_model_stop_feeders(void)
{
    for (uint32_t id = 1; id < end_of_ids(); id++) {
        struct sim_model *model = sim_model_peek(id);
        if (model == NULL)
            continue;
        stop_feeder(model);
        sim_model_close(model);
    }
}

static void wait_for_runs(struct sim_model *model)
{
    sim_lock(&model->mo_lock);
    while (model->mo_record_count != 0) {
        sim_record record = model->mo_records[--model->mo_record_count];
        sim_unlock(&model->mo_lock);
        if (!sim_record_passed(record))
            sim_engine_wait(sim_record_stream(record), sim_record_ticket(record), SIM_FOREVER, SIM_HELPER);
        if (sim_watcher_any())
            sim_watcher_know(record);
        sim_lock(&model->mo_lock);
    }
    sim_unlock(&model->mo_lock);
}

aclError sim_model_unload(uint32_t id, uint32_t bundle)
{
    SIM_TRY(sim_engine_may_wait());
    struct sim_model *fed = sim_model_peek(id);
    if (fed != NULL) {
        stop_feeder(fed); /* before the id is removed, because the feeder's executions look it up */
        sim_model_close(fed);
    }
    sim_lock(&lock);
    struct sim_model *model = id < count ? models[id] : NULL;
    bool foreign = model != NULL && model->mo_bundle != bundle;
    if (model != NULL && !foreign)
        models[id] = NULL;
    sim_unlock(&lock);
    SIM_ARGUMENT(!foreign, ACL_ERROR_INVALID_PARAM, "modelId is %u, a model of a bundle, expected aclmdlBundleUnload",
                 id);
    SIM_ARGUMENT(model != NULL, ACL_ERROR_GE_EXEC_MODEL_ID_INVALID,
                 "modelId is %u, expected the id of a loaded model", id);
    wait_for_runs(model);
    sim_model_release(model->mo_work);
    sim_model_release(model->mo_weights);
    sim_model_close(model);
    return ACL_SUCCESS;
}

/* All queued work has been discarded before; device memory is freed with the devices. */
void sim_model_reset(void)
{
    sim_model_bundle_reset();
    for (uint32_t id = 1; id < end_of_ids(); id++) {
        sim_lock(&lock);
        struct sim_model *model = models[id];
        models[id] = NULL;
        sim_unlock(&lock);
        if (model != NULL)
            sim_model_close(model);
    }
    sim_model_desc_reset();
    sim_model_config_reset();
    sim_model_aipp_reset();
    sim_model_registry_reset();
}

/* The child has no models. The parent's are leaked here, because their locks may have been held during the fork. */
void sim_model_after_fork(void)
{
    sim_lock_renew(&lock);
    for (uint32_t id = 0; id < count; id++)
        models[id] = NULL;
    sim_model_bundle_after_fork();
    sim_model_desc_after_fork();
    sim_model_config_after_fork();
    sim_model_aipp_after_fork();
    sim_model_registry_after_fork();
}
