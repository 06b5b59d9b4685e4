/* Design notes
 *
 * Marks of the program: stamps, spans, texts with numbers, marks in streams, and steps.
 *
 * A stamp is an object that holds a text. A span is an entry of one list, newest first, from its beginning to its end:
 * spans of a thread's stack are found by the thread, ranges by their number. Spans that are open when the session ends
 * are dropped, because the trace has only spans with an end.
 *
 * The lock guards the list of spans and the numbered texts. The session's mutex may be held when it is taken, never
 * the other way round. */
#include "clock_model.h"
#include "base/output.h"
#include "prof.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct stamp {
    struct sim_object sa_object;
    char sa_text[SIM_PROF_TEXT];
};

struct step_info {
    struct sim_object si_object;
    uint64_t si_index; /* of the current or last step */
    bool si_started;
};

struct span {
    struct span *sp_next;
    enum sim_span_kind sp_kind;
    uint32_t sp_number; /* of a range; otherwise 0 */
    uint32_t sp_thread;
    uint64_t sp_start;
    char *sp_arguments; /* allocated with malloc, or NULL */
    char sp_text[SIM_PROF_TEXT];
};

static struct sim_table stamps = SIM_OBJECT_TABLE(struct stamp, SIM_KIND_STAMP);
static struct sim_table step_infos = SIM_OBJECT_TABLE(struct step_info, SIM_KIND_STEP_INFO);

static struct sim_lock lock; /* guards everything below */
static struct span *spans;
static uint32_t ranges;      /* numbers used so far */
static char **texts;         /* by number */
static uint32_t text_count, text_room;

/* ---- stamps ---- */

void *sim_prof_stamp_create(void)
{
    uint64_t handle;
    if (!sim_prof_collects(ACL_PROF_MSPROFTX)) {
        sim_refuse(ACL_ERROR_PROFILING_FAILURE,
                   "no marks are being collected, expected aclprofStart with ACL_PROF_MSPROFTX (0x80)");
        return NULL;
    }
    struct stamp *stamp = sim_object_take(&stamps, &handle);
    if (stamp == NULL)
        return NULL;
    stamp->sa_text[0] = '\0';
    return sim_object_publish(stamp, handle);
}

static aclError open_stamp(const void *handle, struct stamp **stamp)
{
    *stamp = sim_object_open(&stamps, handle, "stamp", ACL_ERROR_INVALID_PARAM);
    return *stamp != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

static void end_stamp(void *stamp)
{
    sim_object_end(&stamps, stamp);
}

void sim_prof_stamp_destroy(void *handle)
{
    struct stamp *stamp;
    if (open_stamp(handle, &stamp) == ACL_SUCCESS)
        end_stamp(stamp);
}

static void copy_text(char target[SIM_PROF_TEXT], const char *text, size_t length)
{
    length = strnlen(text, length);
    memcpy(target, text, length);
    target[length] = '\0';
}

aclError sim_prof_stamp_set(void *handle, const char *text, size_t length)
{
    struct stamp *stamp;
    SIM_TRY(open_stamp(handle, &stamp));
    copy_text(stamp->sa_text, text, length);
    sim_object_close(stamp);
    return ACL_SUCCESS;
}

static aclError need_collection(void)
{
    SIM_ARGUMENT(sim_prof_collects(ACL_PROF_MSPROFTX), ACL_ERROR_PROFILING_FAILURE,
                 "no marks are being collected, expected aclprofStart with ACL_PROF_MSPROFTX (0x80)");
    return ACL_SUCCESS;
}

static aclError read_stamp(const void *handle, char text[SIM_PROF_TEXT])
{
    struct stamp *stamp;
    SIM_TRY(open_stamp(handle, &stamp));
    memcpy(text, stamp->sa_text, SIM_PROF_TEXT);
    sim_object_close(stamp);
    return need_collection();
}

void sim_prof_mark(const char *text)
{
    uint64_t now = sim_clock_model_now();
    sim_prof_write(ACL_PROF_MSPROFTX, &(struct sim_prof_event){.pe_name = text, .pe_category = "mark", .pe_device = -1,
                                                               .pe_line = sim_thread_number(), .pe_start = now,
                                                               .pe_end = now, .pe_arguments = ""});
}

aclError sim_prof_stamp_mark(void *handle)
{
    char text[SIM_PROF_TEXT];
    SIM_TRY(read_stamp(handle, text));
    sim_prof_mark(text);
    return ACL_SUCCESS;
}

/* ---- spans ---- */

static aclError begin_span(const struct span *begun, uint32_t *number)
{
    struct span *span = malloc(sizeof *span);
    SIM_ARGUMENT(span != NULL, ACL_ERROR_PROFILING_FAILURE, "there is no memory for a span");
    *span = *begun;
    span->sp_thread = sim_thread_number();
    span->sp_start = sim_clock_model_now();
    sim_lock(&lock);
    if (number != NULL)
        *number = span->sp_number = ++ranges;
    span->sp_next = spans;
    spans = span;
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

aclError sim_prof_stamp_begin(void *handle, enum sim_span_kind kind, uint32_t *number)
{
    struct span span = {.sp_kind = kind};
    SIM_TRY(read_stamp(handle, span.sp_text));
    return begin_span(&span, number);
}

/* Removes the newest matching span from the list and returns it, or NULL if there is none. */
static struct span *take_span(enum sim_span_kind kind, uint32_t number)
{
    uint32_t thread = sim_thread_number();
    sim_lock(&lock);
    struct span **link = &spans;
    while (*link != NULL && ((*link)->sp_kind != kind || (*link)->sp_number != number ||
                             (kind != SIM_SPAN_RANGE && (*link)->sp_thread != thread)))
        link = &(*link)->sp_next;
    struct span *span = *link;
    if (span != NULL)
        *link = span->sp_next;
    sim_unlock(&lock);
    return span;
}

static void free_span(struct span *span)
{
    free(span->sp_arguments);
    free(span);
}

aclError sim_prof_span_end(enum sim_span_kind kind, uint32_t number)
{
    static const char *const categories[] = {
        [SIM_SPAN_STACK] = "push", [SIM_SPAN_RANGE] = "range", [SIM_SPAN_TENSORS] = "tensors"};
    uint64_t now = sim_clock_model_now();
    SIM_TRY(need_collection());
    struct span *span = take_span(kind, number);
    SIM_ARGUMENT(span != NULL || kind != SIM_SPAN_RANGE, ACL_ERROR_PROFILING_FAILURE,
                 "rangeId is %u, expected the number of a range that was started and not stopped", number);
    SIM_ARGUMENT(span != NULL, ACL_ERROR_PROFILING_FAILURE,
                 "this thread has no open range to end, expected %s on it before",
                 kind == SIM_SPAN_STACK ? "aclprofPush" : "aclprofRangePushEx");
    sim_prof_write(ACL_PROF_MSPROFTX,
                   &(struct sim_prof_event){.pe_name = span->sp_text, .pe_category = categories[kind], .pe_device = -1,
                                            .pe_line = span->sp_thread, .pe_start = span->sp_start,
                                            .pe_end = now > span->sp_start ? now : span->sp_start + 1,
                                            .pe_arguments = span->sp_arguments != NULL ? span->sp_arguments : ""});
    free_span(span);
    return ACL_SUCCESS;
}

aclError sim_prof_range_begin(const char *text, uint32_t *number)
{
    struct span span = {.sp_kind = SIM_SPAN_RANGE};
    SIM_TRY(need_collection());
    copy_text(span.sp_text, text, SIM_PROF_TEXT - 1);
    return begin_span(&span, number);
}

void sim_prof_forget_spans(void)
{
    sim_lock(&lock);
    struct span *open = spans;
    spans = NULL;
    sim_unlock(&lock);
    while (open != NULL) {
        struct span *next = open->sp_next;
        free_span(open);
        open = next;
    }
}

/* ---- spans with tensors ---- */

uint64_t sim_prof_text_number(const char *text)
{
    uint32_t number = 0;
    sim_lock(&lock);
    while (number < text_count && strcmp(texts[number], text) != 0)
        number++;
    bool known = number < text_count;
    if (!known && text_count == text_room) {
        uint32_t room = text_room == 0 ? 16 : 2 * text_room;
        char **grown = realloc(texts, room * sizeof *grown);
        texts = grown != NULL ? grown : texts;
        text_room = grown != NULL ? room : text_room;
    }
    if (!known && text_count < text_room && (texts[text_count] = strdup(text)) != NULL)
        text_count++;
    known = number < text_count;
    sim_unlock(&lock);
    if (known)
        return number;
    sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for the text");
    return UINT64_MAX;
}

/* The text of a number, or its digits if it has none. */
void sim_prof_text(uint64_t number, char text[SIM_PROF_TEXT])
{
    sim_lock(&lock);
    if (number < text_count)
        snprintf(text, SIM_PROF_TEXT, "%s", texts[number]);
    else
        snprintf(text, SIM_PROF_TEXT, "%" PRIu64, number);
    sim_unlock(&lock);
}

static void print_tensors(FILE *out, const aclprofTensorInfo *info)
{
    char type[SIM_PROF_TEXT];
    sim_prof_text(info->opTypeId, type);
    fputs("\"op_type\":\"", out);
    sim_output_text(out, type);
    fprintf(out, "\",\"kernel_type\":%u,\"blocks\":%u,\"tensors\":[", info->kernelType, info->blockNums);
    for (uint32_t i = 0; i < info->tensorNum; i++) {
        const aclprofTensor *tensor = &info->tensors[i];
        fprintf(out, "%s{\"type\":%u,\"format\":%u,\"data_type\":%u,\"shape\":[", i == 0 ? "" : ",", tensor->type,
                tensor->format, tensor->dataType);
        for (uint32_t k = 0; k < tensor->shapeDim; k++)
            fprintf(out, "%s%u", k == 0 ? "" : ",", tensor->shape[k]);
        fputs("]}", out);
    }
    fputc(']', out);
}

aclError sim_prof_span_tensors(const aclprofTensorInfo *info)
{
    struct span span = {.sp_kind = SIM_SPAN_TENSORS};
    size_t size;
    SIM_TRY(need_collection());
    for (uint32_t i = 0; i < info->tensorNum; i++)
        SIM_ARGUMENT(info->tensors[i].shapeDim <= ACL_PROF_TENSOR_DATA_SHAPE_LEN, ACL_ERROR_INVALID_PARAM,
                     "tensor %u has %u dimensions, expected at most %d", i, info->tensors[i].shapeDim,
                     ACL_PROF_TENSOR_DATA_SHAPE_LEN);
    FILE *out = open_memstream(&span.sp_arguments, &size);
    SIM_ARGUMENT(out != NULL, ACL_ERROR_PROFILING_FAILURE, "there is no memory for the description of tensors");
    print_tensors(out, info);
    fclose(out);
    sim_prof_text(info->opNameId, span.sp_text);
    aclError code = begin_span(&span, NULL);
    if (code != ACL_SUCCESS)
        free(span.sp_arguments);
    return code;
}

/* ---- marks in streams ---- */

struct mark {
    uint64_t ma_bits;          /* written if one of these is collected when the task runs */
    const char *ma_category;
    char ma_text[SIM_PROF_TEXT];
};

static aclError run_mark(struct sim_run *run, void *argument)
{
    const struct mark *mark = argument;
    uint64_t now = sim_clock_model_is_on() ? sim_clock_model_of_run(run) : sim_clock_now();
    char task[32];
    snprintf(task, sizeof task, "\"task\":%u", (uint32_t)run->rn_ticket);
    sim_prof_write_run(mark->ma_bits, run,
                       &(struct sim_prof_event){.pe_name = mark->ma_text, .pe_category = mark->ma_category,
                                                .pe_start = now, .pe_end = now, .pe_arguments = task});
    return ACL_SUCCESS;
}

#define MARK_OP(name) {.op_name = (name), .op_run = run_mark, .op_flags = SIM_OP_LIGHT, .op_kind = SIM_TASK_OTHER}
static const struct sim_op mark_op = MARK_OP("aclprofMarkEx"), trace_op = MARK_OP("aclrtProfTrace"),
                           step_op = MARK_OP("aclprofGetStepTimestamp");

static aclError submit_mark(const struct sim_op *op, const struct mark *mark, aclrtStream stream, void *site)
{
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_engine_submit(target, op, mark, sizeof *mark, site, NULL);
}

aclError sim_prof_mark_stream(const char *text, size_t length, aclrtStream stream, void *site)
{
    struct mark mark = {.ma_bits = ACL_PROF_MSPROFTX, .ma_category = "mark"};
    SIM_TRY(need_collection());
    copy_text(mark.ma_text, text, length);
    return submit_mark(&mark_op, &mark, stream, site);
}

/* Queues a mark that shows the program's data as hexadecimal digits. */
aclError sim_prof_trace_stream(const void *data, size_t size, aclrtStream stream, void *site)
{
    struct mark mark = {.ma_bits = SIM_PROF_TASKS | ACL_PROF_MSPROFTX, .ma_category = "trace"};
    for (size_t i = 0; i < size; i++)
        snprintf(mark.ma_text + 2 * i, 3, "%02x", ((const unsigned char *)data)[i]);
    return submit_mark(&trace_op, &mark, stream, site);
}

/* ---- steps ---- */

aclprofStepInfo *sim_prof_step_info_create(void)
{
    uint64_t handle;
    struct step_info *info = sim_object_take(&step_infos, &handle);
    if (info == NULL)
        return NULL;
    info->si_index = 0;
    info->si_started = false;
    return sim_object_publish(info, handle);
}

static aclError open_step(const aclprofStepInfo *handle, struct step_info **info)
{
    *info = sim_object_open(&step_infos, handle, "stepInfo", ACL_ERROR_INVALID_PARAM);
    return *info != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

static void end_step_info(void *info)
{
    sim_object_end(&step_infos, info);
}

void sim_prof_step_info_destroy(const aclprofStepInfo *handle)
{
    struct step_info *info;
    if (open_step(handle, &info) == ACL_SUCCESS)
        end_step_info(info);
}

static aclError tag_step(struct step_info *info, bool start, struct mark *mark)
{
    SIM_ARGUMENT(info->si_started != start, ACL_ERROR_INVALID_PARAM, "tag is %d, expected ACL_STEP_%s", start ? 0 : 1,
                 start ? "END (1): the step has started" : "START (0): no step has started");
    info->si_started = start;
    info->si_index += start;
    snprintf(mark->ma_text, sizeof mark->ma_text, "step %" PRIu64 " %s", info->si_index, start ? "start" : "end");
    return ACL_SUCCESS;
}

aclError sim_prof_step_info_tag(const aclprofStepInfo *handle, aclprofStepTag tag, aclrtStream stream, void *site)
{
    struct step_info *info;
    struct sim_target target;
    struct mark mark = {.ma_bits = ACL_PROF_TRAINING_TRACE, .ma_category = "step"};
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(open_step(handle, &info));
    aclError code = tag_step(info, tag == ACL_STEP_START, &mark);
    sim_object_close(info);
    SIM_TRY(code);
    return sim_engine_submit(target, &step_op, &mark, sizeof mark, site, NULL);
}

void sim_prof_mark_reset(void)
{
    sim_prof_forget_spans();
    sim_object_destroy_all(&stamps, end_stamp);
    sim_object_destroy_all(&step_infos, end_step_info);
    sim_lock(&lock);
    while (text_count != 0)
        free(texts[--text_count]);
    sim_unlock(&lock);
}

/* The child loses what the parent's lists hold, because the parent may have been changing them when it forked. */
void sim_prof_mark_after_fork(void)
{
    sim_lock_renew(&lock);
    spans = NULL;
    texts = NULL;
    text_count = text_room = 0;
    sim_table_empty(&stamps);
    sim_table_empty(&step_infos);
}
