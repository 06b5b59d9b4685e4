/* Design notes
 *
 * This file provides labels, lists of labels, and the switches that jump to labels or to other streams.
 *
 * A label stores the handle of its list and the position where it was set; a list stores the handles of its labels, so
 * that either may be destroyed first. Setting a label records a task whose only effect is to begin a segment of the
 * plan; when that task is deleted, with its instance or because its stream was cleared, the label can be set again. A
 * switch is a task that reads device memory and writes its choice to rn_choice. The targets are resolved when the plan
 * is made (capture_plan.c): until then a label may be set after the switch that jumps to it.
 *
 * Locks: an object's lock guards the object. A label's lock is a leaf, taken inside a list's or an instance's. */
#include "label.h"
#include "address/memory.h"
#include "capture_inner.h"
#include <stdlib.h>
#include <string.h>

struct sim_label {
    struct sim_object lb_object;
    uint64_t lb_context; /* handle of the context it was created in */
    uint64_t lb_list;    /* handle of its list, or 0 */
    bool lb_is_set;
    uint64_t lb_instance; /* this and lb_point are valid once it is set */
    struct sim_point lb_point;
};

struct sim_label_list {
    struct sim_object ll_object;
    uint32_t ll_count;
    aclrtLabel *ll_labels;
};

static struct sim_table label_table = {.tb_stride = sizeof(struct sim_label), .tb_limit = SIM_LABELS_MOST + 1,
                                       .tb_kind = SIM_KIND_LABEL};
static struct sim_table list_table = SIM_OBJECT_TABLE(struct sim_label_list, SIM_KIND_LABEL_LIST);

/* ---- labels ---- */

aclError sim_label_create(aclrtLabel *handle)
{
    uint64_t value;
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    struct sim_label *label = sim_object_take(&label_table, &value);
    SIM_CHECK(label != NULL, ACL_ERROR_RT_INTERNAL_ERROR, "%d labels are alive, expected fewer", SIM_LABELS_MOST);
    label->lb_context = sim_thread.th_bound;
    label->lb_list = 0;
    label->lb_is_set = false;
    *handle = sim_object_publish(label, value);
    return ACL_SUCCESS;
}

static aclError check_own(const struct sim_label *label, aclrtLabel handle)
{
    SIM_CHECK(label->lb_context == sim_thread.th_bound, ACL_ERROR_RT_LABEL_CONTEXT,
              "label %p belongs to another context than %p, which is current on this thread", handle,
              (void *)(uintptr_t)sim_thread.th_bound);
    return ACL_SUCCESS;
}

static aclError refuse_dead(aclrtLabel handle)
{
    return sim_fail(ACL_ERROR_RT_INVALID_HANDLE, "label is %p, %s, expected a live label", handle,
                    sim_handle_describe(handle));
}

aclError sim_label_check(aclrtLabel handle)
{
    return sim_table_find(&label_table, handle) != NULL ? ACL_SUCCESS : refuse_dead(handle);
}

/* The live label of the current context, locked. */
static aclError open_label(aclrtLabel handle, struct sim_label **label)
{
    struct sim_context *context;
    *label = sim_object_peek(&label_table, handle);
    if (*label == NULL)
        return refuse_dead(handle);
    aclError code = sim_context_current(&context);
    if (code == ACL_SUCCESS)
        code = check_own(*label, handle);
    if (code != ACL_SUCCESS)
        sim_object_close(*label);
    return code;
}

aclError sim_label_destroy(aclrtLabel handle)
{
    struct sim_label *label;
    SIM_TRY(open_label(handle, &label));
    sim_object_end(&label_table, label);
    return ACL_SUCCESS;
}

/* ---- setting ---- */

static void unset(void *argument)
{
    struct sim_label *label = sim_object_peek(&label_table, *(aclrtLabel *)argument);
    if (label == NULL)
        return;
    label->lb_is_set = false;
    sim_object_close(label);
}

static const struct sim_op label_op = {.op_name = "aclrtSetLabel", .op_run = sim_engine_nothing, .op_drop = unset,
                                       .op_kind = SIM_TASK_LABEL};

static aclError claim(aclrtLabel handle)
{
    struct sim_label *label;
    SIM_TRY(open_label(handle, &label));
    bool listed = label->lb_list != 0, is_set = label->lb_is_set;
    label->lb_is_set = is_set || listed;
    sim_object_close(label);
    SIM_CHECK(listed, ACL_ERROR_RT_INTERNAL_ERROR, "label %p is not in a list, expected aclrtCreateLabelList before",
              handle);
    SIM_CHECK(!is_set, ACL_ERROR_RT_INTERNAL_ERROR, "label %p is set already, expected one that is not", handle);
    return ACL_SUCCESS;
}

static aclError check_bound(struct sim_target stream)
{
    SIM_CHECK(sim_stream_taken(stream.tg_stream) == SIM_TAKEN_BOUND, ACL_ERROR_RT_STREAM_MODEL,
              "stream is not bound to a model running instance, expected aclmdlRIBindStream before");
    return ACL_SUCCESS;
}

aclError sim_label_set(aclrtLabel handle, struct sim_target stream, void *site)
{
    SIM_TRY(sim_stream_refuse_captured(stream.tg_stream));
    SIM_TRY(check_bound(stream));
    SIM_TRY(claim(handle));
    aclError code = sim_engine_submit(stream, &label_op, &handle, sizeof handle, site, NULL);
    if (code != ACL_SUCCESS) {
        unset(&handle);
        return code;
    }
    struct sim_label *label = sim_object_peek(&label_table, handle);
    if (label == NULL)
        return ACL_SUCCESS; /* destroyed by another thread; a switch to it is rejected */
    label->lb_instance = sim_thread.th_recorder;
    label->lb_point = (struct sim_point){sim_thread.th_recorded_branch, sim_thread.th_last_task};
    sim_object_close(label);
    return ACL_SUCCESS;
}

/* ---- lists ---- */

static aclError join(aclrtLabel handle, uint64_t list)
{
    struct sim_label *label;
    SIM_CHECK(handle != NULL, ACL_ERROR_RT_PARAM_INVALID, "an element of labels is NULL, expected live labels");
    SIM_TRY(open_label(handle, &label));
    bool is_free = label->lb_list == 0;
    if (is_free)
        label->lb_list = list;
    sim_object_close(label);
    SIM_CHECK(is_free, ACL_ERROR_RT_INTERNAL_ERROR, "label %p is in a list already, expected a label that is not in a "
              "list", handle);
    return ACL_SUCCESS;
}

/* Removes the first `count` labels from the list. */
static void leave(const struct sim_label_list *list, uint32_t count, uint64_t handle)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_label *label = sim_object_peek(&label_table, list->ll_labels[i]);
        if (label == NULL)
            continue;
        if (label->lb_list == handle)
            label->lb_list = 0;
        sim_object_close(label);
    }
}

aclError sim_label_list_create(const aclrtLabel *labels, size_t count, aclrtLabelList *handle)
{
    uint64_t value;
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    struct sim_label_list *list = sim_object_take(&list_table, &value);
    SIM_CHECK(list != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no further list of labels can be made");
    list->ll_count = (uint32_t)count;
    list->ll_labels = malloc(count * sizeof *labels);
    aclError code = ACL_SUCCESS;
    uint32_t joined = 0;
    if (list->ll_labels == NULL)
        code = sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a list of %zu labels", count);
    for (; code == ACL_SUCCESS && joined < count; joined += code == ACL_SUCCESS) {
        list->ll_labels[joined] = labels[joined];
        code = join(labels[joined], value);
    }
    if (code == ACL_SUCCESS) {
        *handle = sim_object_publish(list, value);
        return code;
    }
    leave(list, joined, value);
    free(list->ll_labels);
    sim_object_end(&list_table, list);
    return code;
}

static void end_list(void *object)
{
    struct sim_label_list *list = object;
    aclrtLabel *labels = list->ll_labels;
    leave(list, list->ll_count, atomic_load_explicit(&list->ll_object.ob_slot.sl_handle, memory_order_relaxed));
    list->ll_labels = NULL;
    sim_object_end(&list_table, list);
    free(labels);
}

static aclError open_list(aclrtLabelList handle, struct sim_label_list **list)
{
    *list = sim_object_peek(&list_table, handle);
    SIM_CHECK(*list != NULL, ACL_ERROR_RT_INVALID_HANDLE, "labelList is %p, %s, expected a live label list", handle,
              sim_handle_describe(handle));
    return ACL_SUCCESS;
}

aclError sim_label_list_destroy(aclrtLabelList handle)
{
    struct sim_label_list *list;
    SIM_TRY(open_list(handle, &list));
    end_list(list);
    return ACL_SUCCESS;
}

/* ---- switches ---- */

struct jump {
    struct sim_range jp_ranges[2]; /* the index, or the two numbers to compare */
    uint32_t jp_range_count;
    uint32_t jp_most;              /* number of labels; 0: a switch to a stream */
    aclrtLabelList jp_list;
    uint32_t jp_branch;
    uint8_t jp_condition;
};
_Static_assert(sizeof(struct jump) <= SIM_TASK_BYTES, "a switch stays in its task");

static const struct sim_range *its_ranges(const void *argument, size_t *count)
{
    const struct jump *jump = argument;
    *count = jump->jp_range_count;
    return jump->jp_ranges;
}

static int64_t signed_at(const struct sim_range *range)
{
    int32_t narrow;
    int64_t wide;
    const void *place = sim_memory_reach(range->rg_address);
    if (range->rg_size == sizeof wide) {
        memcpy(&wide, place, sizeof wide);
        return wide;
    }
    memcpy(&narrow, place, sizeof narrow);
    return narrow;
}

static bool holds(unsigned condition, int64_t left, int64_t right)
{
    switch (condition) {
    case ACL_RT_EQUAL:
        return left == right;
    case ACL_RT_NOT_EQUAL:
        return left != right;
    case ACL_RT_GREATER:
        return left > right;
    case ACL_RT_GREATER_OR_EQUAL:
        return left >= right;
    case ACL_RT_LESS:
        return left < right;
    default:
        return left <= right;
    }
}

static aclError run_jump(struct sim_run *run, void *argument)
{
    const struct jump *jump = argument;
    int64_t left = signed_at(&jump->jp_ranges[0]);
    if (jump->jp_most != 0) {
        uint32_t index = (uint32_t)left;
        run->rn_choice = index < jump->jp_most ? index : jump->jp_most - 1;
        return ACL_SUCCESS;
    }
    run->rn_choice = holds(jump->jp_condition, left, signed_at(&jump->jp_ranges[1])) ? 0 : SIM_STRAIGHT_ON;
    return ACL_SUCCESS;
}

#define SWITCH_OP(name) {.op_name = name, .op_run = run_jump, .op_ranges = its_ranges, .op_kind = SIM_TASK_SWITCH}
static const struct sim_op label_switch_op = SWITCH_OP("aclrtSwitchLabelByIndex"),
                           stream_switch_op = SWITCH_OP("aclrtSwitchStream");

aclError sim_label_switch(const void *index, uint32_t most, aclrtLabelList handle, struct sim_target stream, void *site)
{
    struct sim_label_list *list;
    struct jump jump = {.jp_ranges[0] = {.rg_address = index, .rg_size = sizeof(uint32_t)}, .jp_range_count = 1,
                        .jp_most = most, .jp_list = handle};
    SIM_TRY(check_bound(stream));
    SIM_TRY(open_list(handle, &list));
    uint32_t count = list->ll_count;
    sim_object_close(list);
    SIM_CHECK(most != 0 && most <= count, ACL_ERROR_RT_PARAM_INVALID,
              "maxValue is %u, expected 1 to %u, the labels of the list", most, count);
    SIM_TRY(sim_memory_claim(&jump.jp_ranges[0], "ptr"));
    return sim_engine_submit(stream, &label_switch_op, &jump, sizeof jump, site, NULL);
}

aclError sim_label_switch_stream(const struct sim_comparison *comparison, struct sim_target to,
                                 struct sim_target stream, void *site)
{
    uint64_t size = comparison->cm_type == ACL_RT_SWITCH_INT64 ? sizeof(int64_t) : sizeof(int32_t);
    struct jump jump = {.jp_ranges = {{.rg_address = comparison->cm_left, .rg_size = size},
                                      {.rg_address = comparison->cm_right, .rg_size = size}},
                        .jp_range_count = 2,
                        .jp_condition = (uint8_t)comparison->cm_condition};
    SIM_TRY(check_bound(stream));
    SIM_TRY(sim_capture_find_branch(to, stream, &jump.jp_branch));
    SIM_TRY(sim_memory_claim(&jump.jp_ranges[0], "leftValue"));
    SIM_TRY(sim_memory_claim(&jump.jp_ranges[1], "rightValue"));
    return sim_engine_submit(stream, &stream_switch_op, &jump, sizeof jump, site, NULL);
}

uint32_t sim_label_ways(const void *argument)
{
    const struct jump *jump = argument;
    return jump->jp_most != 0 ? jump->jp_most : 1;
}

aclError sim_label_resolve(const void *argument, uint32_t way, uint64_t instance, struct sim_point *point)
{
    const struct jump *jump = argument;
    struct sim_label_list *list;
    *point = (struct sim_point){jump->jp_branch, 0};
    if (jump->jp_most == 0)
        return ACL_SUCCESS;
    SIM_TRY(open_list(jump->jp_list, &list));
    aclrtLabel handle = list->ll_labels[way];
    sim_object_close(list);
    struct sim_label *label = sim_object_peek(&label_table, handle);
    bool is_set = label != NULL && label->lb_is_set && label->lb_instance == instance;
    if (is_set)
        *point = label->lb_point;
    if (label != NULL)
        sim_object_close(label);
    SIM_CHECK(is_set, ACL_ERROR_RT_INTERNAL_ERROR,
              "label %p, to which aclrtSwitchLabelByIndex jumps, is not set in the instance, expected aclrtSetLabel "
              "before",
              handle);
    return ACL_SUCCESS;
}

/* ---- reset and fork ---- */

static void end_label(void *object)
{
    sim_object_end(&label_table, object);
}

void sim_label_forget_all(void)
{
    sim_object_destroy_all(&list_table, end_list);
    sim_object_destroy_all(&label_table, end_label);
}

void sim_label_after_fork(void)
{
    sim_table_empty(&label_table);
    sim_table_empty(&list_table);
}
