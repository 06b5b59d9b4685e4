/* This file executes models between queues. Each such model has a thread, its feeder, which takes one element from
 * every input queue, executes the model on device memory of its own, and puts the outputs into the output queues. The
 * private area of the first input's element is copied into every output element. If an execution fails, the feeder logs
 * the reason and puts elements without data into the output queues, so that a program that waits for an output still
 * gets one.
 *
 * The model owns the feeder. The thread that removes the feeder from the model (model.c, atomically) sets the stop
 * flag, which the feeder reads before each wait, and joins it. The feeder also ends when one of its queues is
 * destroyed. No lock is needed: all its fields except the atomic stop flag are written before it starts. */
#include "model_queue.h"
#include "address/memory.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/context.h"
#include "engine/device.h"
#include "operator/tensordesc.h"
#include "queue/queue.h"
#include "dataset.h"
#include <stdlib.h>
#include <string.h>

struct port {
    uint32_t fp_queue;
    uint64_t fp_bytes;
    void *fp_memory;
    aclDataBuffer *fp_buffer;
};

struct sim_feeder {
    pthread_t fe_thread;
    _Atomic bool fe_stopped;
    uint32_t fe_model;
    struct sim_context *fe_context;
    aclrtContext fe_context_handle;
    aclmdlDataset *fe_inputs, *fe_outputs;
    uint32_t fe_input_count, fe_count;
    struct port fe_ports[]; /* inputs first */
};

static _Thread_local struct sim_feeder *feeding; /* the feeder that this thread is, or NULL */

bool sim_model_queue_is_own(const struct sim_feeder *feeder)
{
    return feeder == feeding;
}

/* ---- checks ---- */

/* For an unknown id the documentation gives two numbers. This is the one that the headers define under the code's name;
 * 145011 is another failure in the headers. */
static aclError check_ids(const uint32_t *ids, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_context *context;
        int32_t device = -1;
        bool exists = sim_queue_device(ids[i], &sim_queue_buffers, &device);
        SIM_ARGUMENT(exists, ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID, "%s names queue %u, which does not exist", name,
                     ids[i]);
        SIM_TRY(sim_context_current(&context));
        SIM_ARGUMENT(device == context->cx_device->dv_id, ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID,
                     "%s names queue %u, which is on device %d, expected the current one", name, ids[i], device);
    }
    return ACL_SUCCESS;
}

aclError sim_model_queue_check(const struct sim_load_queues *queues)
{
    SIM_ARGUMENT(queues->lq_inputs != NULL && queues->lq_outputs != NULL, ACL_ERROR_INVALID_PARAM,
                 "%sputQ is NULL, expected a list of queues", queues->lq_inputs == NULL ? "in" : "out");
    SIM_ARGUMENT(queues->lq_input_count != 0 && queues->lq_output_count != 0, ACL_ERROR_INVALID_PARAM,
                 "inputQNum is %zu and outputQNum %zu, expected at least one queue each", queues->lq_input_count,
                 queues->lq_output_count);
    SIM_TRY(check_ids(queues->lq_inputs, queues->lq_input_count, "inputQ"));
    return check_ids(queues->lq_outputs, queues->lq_output_count, "outputQ");
}

static aclError check_model(const struct sim_signature *signature, const struct sim_load_queues *queues)
{
    SIM_ARGUMENT(!signature->sg_dynamic, ACL_ERROR_GE_PARAM_INVALID,
                 "the shapes of the model are dynamic, expected known shapes for a model that is fed by queues");
    SIM_ARGUMENT(queues->lq_input_count == signature->sg_input_count &&
                     queues->lq_output_count == signature->sg_output_count,
                 ACL_ERROR_GE_PARAM_INVALID,
                 "inputQNum is %zu and outputQNum %zu, expected %u and %u, those of the model", queues->lq_input_count,
                 queues->lq_output_count, signature->sg_input_count, signature->sg_output_count);
    return ACL_SUCCESS;
}

/* ---- the thread ---- */

static const char who[] = "aclmdlLoadFromFileWithQ"; /* the function that messages of the feeder's executions name */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (sim_log_is_on(ACL_ERROR))
        sim_log_write(ACL_ERROR, who, __FILE__, __LINE__, format, arguments);
    va_end(arguments);
}

/* Logs the message of the failed execution: it is kept per thread, so the program could not read it otherwise. With
 * messages shared by all threads, the program reads it itself. */
static void say_why(const struct sim_feeder *feeder)
{
    const char *text = sim_fail_is_shared() ? "aclGetRecentErrMsg says why" : sim_fail_take();
    say("an execution of model %u, which is fed by queues, failed: %s", feeder->fe_model,
        text != NULL ? text : "the reason is unknown");
}

/* Takes one element from each input queue; false if the feeder has to end. *fits: each element has the size of its
 * input. */
static bool gather(struct sim_feeder *feeder, unsigned char user[SIM_QUEUE_PRIVATE], bool *fits)
{
    *fits = true;
    for (uint32_t i = 0; i < feeder->fe_input_count; i++) {
        const struct port *port = &feeder->fe_ports[i];
        struct sim_parcel *parcel;
        uint64_t room = UINT64_MAX;
        if (sim_queue_take(port->fp_queue, &sim_queue_buffers, &parcel, &room,
                           (struct sim_patience){-1, &feeder->fe_stopped}) != SIM_PASSED)
            return false;
        uint64_t bytes = parcel->pa_bytes;
        bool fit = bytes == port->fp_bytes && sim_memory_engine(port->fp_memory) != NULL;
        if (!fit)
            say("input %u of model %u came with %llu bytes, expected %llu, in memory of a device that was not reset", i,
                feeder->fe_model, (unsigned long long)bytes, (unsigned long long)port->fp_bytes);
        *fits &= fit;
        sim_queue_buffer_unpack(parcel, &(struct sim_queue_bytes){.qb_data = fit ? port->fp_memory : NULL,
                                                                  .qb_user = i == 0 ? user : NULL,
                                                                  .qb_user_size = i == 0 ? SIM_QUEUE_PRIVATE : 0});
    }
    return true;
}

/* Puts the outputs, or elements without data, into the output queues; false if the feeder has to end. */
static bool scatter(struct sim_feeder *feeder, unsigned char user[SIM_QUEUE_PRIVATE], bool done)
{
    for (uint32_t i = feeder->fe_input_count; i < feeder->fe_count; i++) {
        const struct port *port = &feeder->fe_ports[i];
        struct sim_parcel *parcel;
        struct sim_queue_bytes bytes = {port->fp_memory, user, done ? port->fp_bytes : 0, SIM_QUEUE_PRIVATE};
        if (sim_queue_buffer_pack(&bytes, &parcel) != ACL_SUCCESS)
            return false;
        if (sim_queue_put(port->fp_queue, &sim_queue_buffers, parcel,
                          (struct sim_patience){-1, &feeder->fe_stopped}) != SIM_PASSED) {
            sim_queue_buffers.ca_drop(parcel);
            return false;
        }
    }
    return true;
}

static void *feed(void *argument)
{
    struct sim_feeder *feeder = argument;
    unsigned char user[SIM_QUEUE_PRIVATE];
    bool done, fits;
    feeding = feeder;
    sim_thread.th_function = who;
    sim_context_bind(feeder->fe_context, feeder->fe_context_handle);
    do {
        if (!gather(feeder, user, &fits))
            break;
        done = fits && sim_model_execute(feeder->fe_model, feeder->fe_inputs, feeder->fe_outputs, NULL) == ACL_SUCCESS;
        if (fits && !done)
            say_why(feeder);
    } while (scatter(feeder, user, done));
    return NULL;
}

/* ---- starting and stopping ---- */

static void free_feeder(struct sim_feeder *feeder)
{
    struct sim_dataset *datasets[] = {sim_dataset_peek(feeder->fe_inputs), sim_dataset_peek(feeder->fe_outputs)};
    for (int side = 0; side < 2; side++)
        if (datasets[side] != NULL)
            sim_dataset_destroy(datasets[side]);
    for (uint32_t i = 0; i < feeder->fe_count; i++) {
        struct port *port = &feeder->fe_ports[i];
        struct sim_data_buffer *buffer = port->fp_buffer != NULL ? sim_tensordesc_buffer_open(port->fp_buffer) : NULL;
        if (buffer != NULL)
            sim_tensordesc_buffer_destroy(buffer);
        sim_model_release(port->fp_memory);
    }
    free(feeder);
}

/* Allocates the memory of one port and adds its buffer to a dataset. */
static aclError make_port(struct port *port, uint32_t queue, uint64_t bytes, aclmdlDataset *handle)
{
    port->fp_queue = queue;
    port->fp_bytes = bytes;
    SIM_TRY(sim_memory_take(&port->fp_memory, bytes != 0 ? bytes : 1));
    port->fp_buffer = sim_tensordesc_buffer_create(port->fp_memory, bytes);
    struct sim_dataset *dataset = port->fp_buffer != NULL ? sim_dataset_open(handle, "dataset") : NULL;
    if (dataset == NULL)
        return ACL_ERROR_BAD_ALLOC;
    aclError code = sim_dataset_add(dataset, port->fp_buffer);
    sim_object_close(dataset);
    return code;
}

static aclError fill(struct sim_feeder *feeder, const struct sim_signature *signature,
                     const struct sim_load_queues *queues)
{
    feeder->fe_inputs = sim_dataset_create();
    feeder->fe_outputs = sim_dataset_create();
    for (uint32_t i = 0; i < feeder->fe_count; i++) {
        bool output = i >= feeder->fe_input_count;
        uint32_t at = output ? i - feeder->fe_input_count : i;
        SIM_TRY(make_port(&feeder->fe_ports[i], output ? queues->lq_outputs[at] : queues->lq_inputs[at],
                          (output ? signature->sg_outputs : signature->sg_inputs)[at].po_bytes,
                          output ? feeder->fe_outputs : feeder->fe_inputs));
    }
    return ACL_SUCCESS;
}

aclError sim_model_queue_start(struct sim_model *model, const struct sim_load_queues *queues,
                               struct sim_feeder **started)
{
    const struct sim_signature *signature = model->mo_signature;
    struct sim_context *context;
    SIM_TRY(check_model(signature, queues));
    SIM_TRY(sim_context_current(&context));
    uint32_t count = signature->sg_input_count + signature->sg_output_count;
    struct sim_feeder *feeder = calloc(1, sizeof *feeder + count * sizeof *feeder->fe_ports);
    SIM_ARGUMENT(feeder != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a model that is fed by "
                 "queues");
    feeder->fe_model = model->mo_id;
    feeder->fe_context = context;
    feeder->fe_context_handle = sim_context_handle(context);
    feeder->fe_input_count = signature->sg_input_count;
    feeder->fe_count = count;
    aclError code = fill(feeder, signature, queues);
    if (code == ACL_SUCCESS && sim_thread_start(&feeder->fe_thread, feed, feeder) != 0)
        code = sim_refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, "no thread could be started for a model that is fed by "
                          "queues");
    if (code == ACL_SUCCESS)
        *started = feeder;
    else
        free_feeder(feeder);
    return code;
}

void sim_model_queue_stop(struct sim_feeder *feeder)
{
    atomic_store_explicit(&feeder->fe_stopped, true, memory_order_release);
    for (uint32_t i = 0; i < feeder->fe_count; i++)
        sim_queue_wake(feeder->fe_ports[i].fp_queue, &sim_queue_buffers);
    pthread_join(feeder->fe_thread, NULL);
    free_feeder(feeder);
}
