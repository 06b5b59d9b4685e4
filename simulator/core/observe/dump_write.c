/* Design notes
 *
 * Writes dumps of models and operators: names of files and directories, and their contents.
 *
 * Everything here runs on the thread that runs the task, between its check and its end, without any lock of the engine.
 * The task owns its memory; a program that frees it meanwhile is in error. A tensor becomes the contents of a NumPy
 * file, elements in order whatever its strides; types that NumPy lacks become bytes of their size.
 *
 * This file has no lock. If a file cannot be written, the process prints one message on stderr and the task goes on,
 * as on a card. */
#include "address/memory.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/output.h"
#include "engine/context.h"
#include "engine/device.h"
#include "model/model_signature.h"
#include "operator/call.h"
#include "data_type_table.h"
#include "dump.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256      /* of a file or directory; the limit of file systems */
#define CHUNK_BYTES (1u << 20) /* passed to the program's function at once */

/* ---- arrays ---- */

/* NumPy's name of a type; "" if it has none. */
static const char *descr_of(aclDataType type)
{
#define DESCR(constant, name, bits, numpy, package, number) [constant] = numpy,
    static const char *const texts[] = {SIM_DATA_TYPES(DESCR)};
    return (size_t)type < sizeof texts / sizeof *texts && texts[type] != NULL ? texts[type] : "";
}

static uint64_t elements_of(const aclsimTensor *tensor)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] <= 0 || !sim_size_multiply(&count, (uint64_t)tensor->dims[i]))
            return 0; /* more than any memory can hold */
    return count;
}

void sim_dump_each(const aclsimTensor *tensor, size_t width, void (*function)(const char *element, void *user),
                   void *user)
{
    int64_t index[8] = {0}, at = 0;
    for (uint64_t left = elements_of(tensor); left != 0; left--) {
        function((const char *)tensor->data + at * (int64_t)width, user);
        for (uint32_t i = tensor->rank; i-- != 0;) {
            at += tensor->strides[i];
            if (++index[i] < tensor->dims[i])
                break;
            at -= tensor->strides[i] * tensor->dims[i];
            index[i] = 0;
        }
    }
}

struct gathering {
    char *ga_target;
    size_t ga_width;
};

static void gather(const char *element, void *user)
{
    struct gathering *gathering = user;
    memcpy(gathering->ga_target, element, gathering->ga_width);
    gathering->ga_target += gathering->ga_width;
}

/* Writes the header of a NumPy file of version 1.0, whose length is a multiple of 64. */
static size_t write_header(char header[NAME_BYTES], const aclsimTensor *tensor, size_t width, uint64_t bytes)
{
    char descr[16];
    snprintf(descr, sizeof descr, "%s", descr_of(tensor->type));
    if (*descr == '\0')
        snprintf(descr, sizeof descr, width == 0 ? "|u1" : "|V%zu", width);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    int length = 10 + sprintf(header + 10, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    if (width == 0)
        length += sprintf(header + length, "%" PRIu64 ",", bytes);
    for (uint32_t i = 0; i < tensor->rank && width != 0; i++)
        length += sprintf(header + length, "%" PRId64 ",", tensor->dims[i]);
    length += sprintf(header + length, "), }");
    while ((length + 1) % 64 != 0)
        header[length++] = ' ';
    header[length++] = '\n';
    header[8] = (char)((length - 10) & 0xff);
    header[9] = (char)((length - 10) >> 8);
    return (size_t)length;
}

void *sim_dump_array(const aclsimTensor *tensor, size_t *size)
{
    char header[NAME_BYTES + 64];
    uint32_t bits = sim_type_bits(tensor->type);
    size_t width = bits % 8 == 0 ? bits / 8 : 0; /* 0: several contiguous elements per byte */
    uint64_t bytes = width != 0 ? elements_of(tensor) * width : (elements_of(tensor) * bits + 7) / 8;
    size_t before = write_header(header, tensor, width, bytes);
    char *content = malloc(before + bytes);
    if (content == NULL)
        return NULL;
    memcpy(content, header, before);
    if (width != 0)
        sim_dump_each(tensor, width, gather, &(struct gathering){content + before, width});
    else if (bytes != 0)
        memcpy(content + before, tensor->data, bytes);
    *size = before + bytes;
    return content;
}

/* ---- where bytes go ---- */

static void give(sim_dump_function receiver, const char *path, const char *data, size_t size)
{
    size_t most = size < CHUNK_BYTES ? size : CHUNK_BYTES, done = 0;
    acldumpChunk *chunk = malloc(sizeof *chunk + most);
    if (chunk == NULL)
        return;
    snprintf(chunk->fileName, sizeof chunk->fileName, "%s", path);
    chunk->flag = 0;
    do {
        size_t part = size - done < most ? size - done : most;
        chunk->bufLen = (uint32_t)part;
        chunk->offset = (int64_t)done;
        chunk->isLastChunk = done + part == size;
        memcpy(chunk->dataBuf, data + done, part);
        done += part;
        /* When the function refuses a chunk, it gets no more of that file. */
        if (receiver(chunk, (int32_t)(sizeof *chunk + part)) != 0)
            break;
    } while (done < size);
    free(chunk);
}

static bool write_file(const char *directory, const char *path, const void *data, size_t size)
{
    static _Atomic bool said;
    bool written = sim_output_directory(directory) && sim_output_write(path, data, size);
    if (!written && !atomic_exchange(&said, true))
        fprintf(stderr, "acl simulator: dump cannot write %s: %s\n", path, strerror(errno));
    return written;
}

bool sim_dump_deliver(const char *directory, const char *name, const void *data, size_t size)
{
    char path[ACL_DUMP_MAX_FILE_PATH_LENGTH];
    sim_dump_function receiver = sim_dump_receiver();
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (receiver == NULL)
        return write_file(directory, path, data, size);
    give(receiver, path, data, size);
    return true;
}

/* ---- names ---- */

void sim_dump_clean(const char *name, char target[64])
{
    size_t at = 0;
    for (; name[at] != '\0' && at < 63; at++)
        target[at] = strchr("/.\\ ", name[at]) != NULL || iscntrl((unsigned char)name[at]) ? '_' : name[at];
    target[at] = '\0';
}

/* The directory of one task's files, and how their names begin. */
struct place {
    unsigned pl_statistics; /* instead of the elements, if not 0 */
    char pl_directory[ACL_DUMP_MAX_FILE_PATH_LENGTH - NAME_BYTES];
    char pl_stem[NAME_BYTES - 32];
};

/* A plan without a directory only dumps to the program's function. */
static bool has_target(const struct sim_dump_plan *plan)
{
    return plan->dp_path != NULL || sim_dump_receiver() != NULL;
}

static int device_of(const struct sim_run *run)
{
    return atomic_load_explicit(&run->rn_stream->st_context, memory_order_relaxed)->cx_device->dv_id;
}

static void name_files(struct place *place, const struct sim_dump_plan *plan, const struct sim_run *run,
                       const char *type, const char *name)
{
    place->pl_statistics = plan->dp_statistics;
    char types[64], names[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sim_dump_clean(type, types);
    sim_dump_clean(name, names);
    snprintf(place->pl_stem, sizeof place->pl_stem, "%s.%s.%u.%u.%" PRIu64, types, names, (uint32_t)run->rn_ticket,
             run->rn_stream->st_slot.sl_index, (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}

/* The directory for operators. */
static void name_directory(struct place *place, const struct sim_dump_plan *plan, const struct sim_run *run)
{
    snprintf(place->pl_directory, sizeof place->pl_directory, "%s/%s/%d", plan->dp_path != NULL ? plan->dp_path : "",
             plan->dp_time, device_of(run));
}

static void write_tensor(const struct place *place, const char *direction, size_t index, const aclsimTensor *tensor)
{
    char name[NAME_BYTES];
    size_t size;
    unsigned statistics = place->pl_statistics;
    void *content = tensor->data == NULL ? NULL
                    : statistics != 0    ? sim_dump_statistics(tensor, statistics, &size)
                                         : sim_dump_array(tensor, &size);
    if (content == NULL)
        return; /* without elements, or memory has run out */
    snprintf(name, sizeof name, "%s.%s.%zu.%s", place->pl_stem, direction, index, statistics != 0 ? "csv" : "npy");
    sim_dump_deliver(place->pl_directory, name, content, size);
    free(content);
}

static const char *name_of(aclsimDirection direction)
{
    return direction == ACLSIM_IN ? "input" : "output";
}

/* ---- models ---- */

static bool has_step(const struct sim_dump_plan *plan, uint64_t step)
{
    bool found = plan->dp_step_count == 0;
    for (uint32_t i = 0; i < plan->dp_step_count && !found; i++)
        found = plan->dp_steps[i][0] <= step && step <= plan->dp_steps[i][1];
    return found;
}

struct sim_dump_plan *sim_dump_of_model(const char *name)
{
    struct sim_dump_plan *plan = sim_dump_share();
    bool wanted = plan != NULL && plan->dp_models && plan->dp_names == NULL;
    for (char **entry = plan != NULL ? plan->dp_names : NULL; entry != NULL && *entry != NULL; entry++)
        wanted = wanted || strcmp(*entry, name) == 0;
    if (wanted)
        return plan;
    sim_dump_drop(plan);
    return NULL;
}

void sim_dump_model(const struct sim_dump_plan *plan, const struct sim_run *run, const aclsimModelRun *order,
                    uint64_t step, aclsimDirection direction)
{
    struct place place;
    char name[64];
    if (sim_dump_is_over(plan) || !(plan->dp_directions & direction) || !has_step(plan, step) || !has_target(plan))
        return;
    sim_dump_clean(order->name, name);
    snprintf(place.pl_directory, sizeof place.pl_directory, "%s/%s/%d/%s/%u/%" PRIu64,
             plan->dp_path != NULL ? plan->dp_path : "", plan->dp_time, device_of(run), name, order->modelId, step);
    name_files(&place, plan, run, "Model", order->name);
    size_t count = direction == ACLSIM_IN ? order->inputCount : order->outputCount;
    for (size_t i = 0; i < count; i++) {
        aclsimTensor tensor = direction == ACLSIM_IN ? order->inputs[i] : order->outputs[i];
        sim_model_shape_strides(tensor.dims, tensor.rank,
                                tensor.strides); /* the model's function may have left anything there */
        write_tensor(&place, name_of(direction), i, &tensor);
    }
}

/* ---- operators ---- */

static void write_operator(const struct place *place, const void *argument, unsigned directions)
{
    aclsimArgument arguments[SIM_ROW_PARAMETERS];
    size_t count = sim_row_show(argument, arguments), indexes[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].kind > ACLSIM_TENSOR_LIST || !arguments[i].present)
            continue;
        for (uint64_t k = 0; k < arguments[i].count; k++)
            for (int side = 0; side < 2; side++) {
                aclsimDirection direction = side == 0 ? ACLSIM_IN : ACLSIM_OUT;
                if (!(arguments[i].direction & direction))
                    continue;
                if (directions & direction)
                    write_tensor(place, name_of(direction), indexes[side], &arguments[i].tensors[k]);
                indexes[side]++;
            }
    }
}

static void print_tensors(FILE *out, const aclsimArgument *argument, bool *first)
{
    for (uint64_t k = 0; k < argument->count; k++) {
        const aclsimTensor *tensor = &argument->tensors[k];
        fprintf(out, "%s{\"name\":\"%s\",\"data_type\":%d,\"shape\":[", *first ? "" : ",", argument->name,
                (int)tensor->type);
        for (uint32_t i = 0; i < tensor->rank; i++)
            fprintf(out, "%s%" PRId64, i == 0 ? "" : ",", tensor->dims[i]);
        fputs("]}", out);
        *first = false;
    }
}

/* Prints values as texts, because JSON has no infinities. */
static void print_attribute(FILE *out, const aclsimArgument *argument, bool *first)
{
    fprintf(out, "%s{\"name\":\"%s\",\"value\":\"", *first ? "" : ",", argument->name);
    *first = false;
    uint64_t count = argument->kind < ACLSIM_TEXT ? argument->count : 1;
    for (uint64_t i = 0; i < count; i++) {
        fputs(i == 0 ? "" : " ", out);
        switch (argument->kind) {
        case ACLSIM_INTEGERS:
            fprintf(out, "%" PRId64, argument->integers[i]);
            break;
        case ACLSIM_FLOATS:
            fprintf(out, "%.9g", (double)argument->floats[i]);
            break;
        case ACLSIM_BOOLEANS:
            fputs(argument->booleans[i] ? "true" : "false", out);
            break;
        case ACLSIM_TEXT:
            sim_output_text(out, argument->text);
            break;
        case ACLSIM_INTEGER:
            fprintf(out, "%" PRId64, argument->integer);
            break;
        case ACLSIM_NUMBER:
            fprintf(out, "%.17g", argument->number);
            break;
        default: /* scalars: the value is part of the data, the type is not */
            fprintf(out, "data_type %d", (int)argument->scalars[i].type);
        }
    }
    fputs("\"}", out);
}

/* Prints the operator with its shapes and attributes as JSON. */
static void print_operator(FILE *out, const struct sim_row *row, const void *argument)
{
    aclsimArgument arguments[SIM_ROW_PARAMETERS];
    size_t count = sim_row_show(argument, arguments);
    fprintf(out, "{\"op_type\":\"%s\"", sim_row_type(row));
    for (int side = 0; side < 2; side++) {
        bool first = true;
        fprintf(out, ",\"%ss\":[", name_of(side == 0 ? ACLSIM_IN : ACLSIM_OUT));
        for (size_t i = 0; i < count; i++)
            if (arguments[i].kind <= ACLSIM_TENSOR_LIST && arguments[i].present &&
                (arguments[i].direction & (side == 0 ? ACLSIM_IN : ACLSIM_OUT)))
                print_tensors(out, &arguments[i], &first);
        fputc(']', out);
    }
    bool first = true;
    fputs(",\"attributes\":[", out);
    for (size_t i = 0; i < count; i++)
        if (arguments[i].kind > ACLSIM_TENSOR_LIST && arguments[i].present)
            print_attribute(out, &arguments[i], &first);
    fputs("]}\n", out);
}

/* Writes one file per distinct text; its name contains a hash of the text. */
static void write_arguments(const struct sim_row *row, const void *argument)
{
    char directory[SIM_DUMP_PATH], path[SIM_DUMP_PATH + NAME_BYTES], *text = NULL;
    size_t size = 0;
    FILE *out = sim_dump_arguments_path(directory) ? open_memstream(&text, &size) : NULL;
    if (out == NULL)
        return;
    print_operator(out, row, argument);
    fclose(out);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    snprintf(path, sizeof path, "%s/%s_%016" PRIx64 ".json", directory, sim_row_type(row), hash);
    write_file(directory, path, text, size);
    free(text);
}

void sim_dump_named(const struct sim_run *run, const struct sim_dump_names *names)
{
    struct place place;
    struct sim_dump_plan *plan = sim_dump_share();
    if (plan != NULL && plan->dp_failures == 0 && !plan->dp_overflow && has_target(plan)) {
        name_directory(&place, plan, run);
        name_files(&place, plan, run, names->dn_type, names->dn_name);
        for (uint32_t i = 0; i < names->dn_count; i++) {
            bool input = i < names->dn_inputs;
            if (plan->dp_directions & (input ? ACLSIM_IN : ACLSIM_OUT))
                write_tensor(&place, name_of(input ? ACLSIM_IN : ACLSIM_OUT), input ? i : i - names->dn_inputs,
                             &names->dn_tensors[i]);
        }
    }
    sim_dump_drop(plan);
}

static bool is_operator(const struct sim_task *task)
{
    return task->ta_op->op_run == sim_row_run;
}

static void dump_task(const struct sim_run *run, const struct sim_task *task, const void *argument,
                      aclsimDirection direction)
{
    struct place place;
    if (!is_operator(task))
        return;
    const struct sim_row *row = ((const struct sim_call *)argument)->ca_row;
    if (direction == ACLSIM_OUT)
        write_arguments(row, argument);
    struct sim_dump_plan *plan = sim_dump_share();
    if (plan != NULL && plan->dp_operators && (plan->dp_directions & direction) && has_target(plan)) {
        name_directory(&place, plan, run);
        name_files(&place, plan, run, sim_row_type(row), row->ro_op.op_name);
        write_operator(&place, argument, direction);
    }
    sim_dump_drop(plan);
}

void sim_dump_failure(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    struct place place;
    struct sim_dump_plan *plan = is_operator(task) ? sim_dump_share() : NULL;
    if (plan != NULL && plan->dp_failures != 0) {
        const struct sim_row *row = ((const struct sim_call *)argument)->ca_row;
        snprintf(place.pl_directory, sizeof place.pl_directory, "%s/" SIM_DUMP_EXCEPTIONS "/%d", plan->dp_path,
                 device_of(run));
        name_files(&place, plan, run, sim_row_type(row), row->ro_op.op_name);
        write_operator(&place, argument, ACLSIM_IN | ACLSIM_OUT);
    }
    sim_dump_drop(plan);
}

static void begin_task(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    dump_task(run, task, argument, ACLSIM_IN);
}

static void end_task(const struct sim_run *run, const struct sim_task *task, const void *argument,
                     const struct sim_watched *watched)
{
    if (watched->wd_code == ACL_SUCCESS)
        dump_task(run, task, argument, ACLSIM_OUT);
}

const struct sim_watcher sim_dump_data = {.wt_start = begin_task, .wt_finish = end_task};
