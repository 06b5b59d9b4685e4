/* The programs of the corpus in C. Each is faulty, and also right if its argument says so. The comments "first" and
 * "second" mark the lines that a finding must name. The checker that finds a fault is the first word of its entry in
 * the table at the end. For each program, main prints a line with its name, the findings of the right program, a line,
 * and those of the faulty one. */
#include "setting.h"

/* ---- memory ---- */

static void a_set_behind_the_end(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    aclrtMemset(block, 128, 0, right ? 100 : 101); /* second */
    MUST(aclrtFree(block));
}

static void a_queued_set_behind_the_end(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    aclrtMemsetAsync(block, 128, 0, right ? 100 : 128, one); /* second */
    aclrtSynchronizeStream(one);
    MUST(aclrtFree(block));
}

static void a_copy_behind_the_end(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    aclrtMemcpy(block + 96, 32, plain, right ? 4 : 5, ACL_MEMCPY_HOST_TO_DEVICE); /* second */
    MUST(aclrtFree(block));
}

static void a_strided_view_behind_the_end(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 40, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    MUST(aclrtMemset(block, 64, 0, 40));
    aclOpExecutor *executor = negation(vector(block, 4, 3, right ? 0 : 1), vector(b, 4, 1, 0));
    aclnnNeg(NULL, 0, executor, one); /* second */
    aclrtSynchronizeStream(one);
    MUST(aclrtFree(block));
}

static void a_use_after_the_free(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    if (right)
        MUST(aclrtMemset(block, 100, 0, 100));
    MUST(aclrtFree(block)); /* first */
    if (!right)
        aclrtMemset(block, 100, 0, 100); /* second */
}

static void a_copy_from_freed_memory(bool right)
{
    char *block;
    MUST(aclrtMallocHost((void **)&block, 100));
    if (right)
        MUST(aclrtMemcpy(a, SIZE, block, 100, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtFreeHost(block)); /* first */
    if (!right)
        aclrtMemcpy(a, SIZE, block, 100, ACL_MEMCPY_HOST_TO_DEVICE); /* second */
}

static void a_free_under_a_queued_set(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclsimStreamHold(one));
    aclrtMemsetAsync(block, 100, 0, 100, one); /* first */
    if (!right)
        aclrtFree(block); /* second */
    MUST(aclsimStreamRelease(one));
    aclrtSynchronizeStream(one);
    if (right)
        MUST(aclrtFree(block));
}

static void a_free_under_a_queued_operator(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(block, 64, 0, 64));
    aclOpExecutor *executor = negation(vector(block, 16, 1, 0), vector(b, 16, 1, 0));
    MUST(aclsimStreamHold(one));
    aclnnNeg(NULL, 0, executor, one); /* first */
    if (!right)
        aclrtFree(block); /* second */
    MUST(aclsimStreamRelease(one));
    aclrtSynchronizeStream(one);
    if (right)
        MUST(aclrtFree(block));
}

static void pinned_memory_freed_under_a_copy(bool right)
{
    char *block;
    MUST(aclrtMallocHost((void **)&block, 100));
    MUST(aclsimStreamHold(one));
    aclrtMemcpyAsync(a, SIZE, block, 100, ACL_MEMCPY_HOST_TO_DEVICE, one); /* first */
    if (!right)
        aclrtFreeHost(block); /* second */
    MUST(aclsimStreamRelease(one));
    aclrtSynchronizeStream(one);
    if (right)
        MUST(aclrtFreeHost(block));
}

static void a_second_free(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtFree(block)); /* first */
    if (!right)
        aclrtFree(block); /* second */
}

static void a_free_inside_a_block(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    aclrtFree(right ? block : block + 64); /* second */
    if (!right)
        aclrtFree(block);
}

static void a_free_of_another_kind(bool right)
{
    char *block;
    MUST(aclrtMalloc((void **)&block, 100, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    if (right)
        aclrtFree(block);
    else
        aclrtFreeHost(block); /* second */
}

static void a_wrong_direction(bool right)
{
    aclrtMemcpy(plain, 100, a, 100, right ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE); /* first */
}

static void a_wrong_direction_of_a_queued_copy(bool right)
{
    aclrtMemcpyAsync(a, 9, b, 9, right ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE, one); /* first */
    aclrtSynchronizeStream(one);
}

static void a_replay_with_other_memory(bool right)
{
    char *block, *again = NULL;
    aclmdlRI graph;
    MUST(aclrtMalloc((void **)&block, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(block, SIZE, 1, SIZE, one)); /* first */
    MUST(aclmdlRICaptureEnd(one, &graph));
    if (!right) {
        MUST(aclrtFree(block)); /* second */
        MUST(aclrtMalloc((void **)&again, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    aclmdlRIExecuteAsync(graph, one);
    aclrtSynchronizeStream(one);
    MUST(aclmdlRIDestroy(graph));
    MUST(aclrtFree(right ? block : again));
}

static void an_unaligned_tensor(bool right)
{
    aclTensor *from = vector(right ? a : a + 4, 16, 1, right ? 1 : 0), *to = vector(b, 16, 1, 0);
    uint64_t size;
    aclOpExecutor *executor;
    aclnnNegGetWorkspaceSize(from, to, &size, &executor); /* first */
    MUST(aclnnNeg(NULL, 0, executor, one));
    aclrtSynchronizeStream(one);
    MUST(aclDestroyTensor(from));
    MUST(aclDestroyTensor(to));
}

/* ---- race ---- */

static void a_read_beside_a_write(bool right)
{
    aclrtMemsetAsync(a, SIZE, 1, SIZE, one); /* first */
    if (right)
        order(one, two);
    aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, two); /* second */
}

static void a_write_beside_a_read(bool right)
{
    aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, one); /* first */
    if (right)
        order(one, two);
    aclrtMemsetAsync(a, SIZE, 1, SIZE, two); /* second */
}

static void two_writes_that_overlap(bool right)
{
    aclrtMemsetAsync(a, SIZE, 1, 1010, one); /* first */
    aclrtMemsetAsync(a + (right ? 1010 : 1009), 500, 1, 500, two); /* second */
}

static void a_record_before_the_task(bool right)
{
    if (!right)
        order(one, two);
    aclrtMemsetAsync(a, SIZE, 1, SIZE, one); /* first */
    if (right)
        order(one, two);
    aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, two); /* second */
}

static void a_wait_on_another_stream(bool right)
{
    aclrtMemsetAsync(a, SIZE, 1, SIZE, one); /* first */
    order(one, right ? two : three);
    aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, two); /* second */
}

static void a_result_without_synchronise(bool right)
{
    aclrtMemsetAsync(a, SIZE, 1, SIZE, one); /* first */
    if (right)
        aclrtSynchronizeStream(one);
    aclrtMemcpy(plain, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_HOST); /* second */
}

static void an_input_that_is_replaced_too_early(bool right)
{
    aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, one); /* first */
    aclrtSynchronizeStream(right ? one : two);
    aclrtMemcpy(a, SIZE, plain, SIZE, ACL_MEMCPY_HOST_TO_DEVICE); /* second */
}

static void columns_of_a_matrix(bool right)
{
    aclOpExecutor *left = negation(vector(b, 256, 2, 0), vector(a, 256, 2, 0));
    aclOpExecutor *other = negation(vector(b, 256, 2, 0), vector(a, 256, 2, right ? 1 : 0));
    aclnnNeg(NULL, 0, left, one); /* first */
    aclnnNeg(NULL, 0, other, two); /* second */
}

static void halves_of_rows(bool right)
{
    const aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
    aclrtMemcpy2dAsync(a, 64, b, 64, 32, 8, kind, one); /* first */
    aclrtMemcpy2dAsync(a + (right ? 32 : 31), 64, c, 64, 32, 8, kind, two); /* second */
}

static void a_notify_before_the_task(bool right)
{
    aclrtNotify notify;
    MUST(aclrtCreateNotify(&notify, 0));
    if (!right)
        MUST(aclrtRecordNotify(notify, one));
    aclrtMemsetAsync(a, SIZE, 1, SIZE, one); /* first */
    if (right)
        MUST(aclrtRecordNotify(notify, one));
    MUST(aclrtWaitAndResetNotify(notify, two, 0));
    aclrtMemsetAsync(a, SIZE, 2, SIZE, two); /* second */
    aclrtSynchronizeStream(two);
    MUST(aclrtDestroyNotify(notify));
}

static void a_value_before_the_task(bool right)
{
    if (!right)
        MUST(aclrtValueWrite(c, 1, 0, one));
    aclrtMemsetAsync(a, SIZE, 1, SIZE, one); /* first */
    if (right)
        MUST(aclrtValueWrite(c, 1, 0, one));
    MUST(aclrtValueWait(c, 1, 1, two));
    aclrtMemsetAsync(a, SIZE, 2, SIZE, two); /* second */
}

static void a_branch_of_a_capture(bool right)
{
    aclrtEvent events[3];
    aclmdlRI graph;
    for (int i = 0; i < 3; i++)
        MUST(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
    MUST(aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtRecordEvent(events[0], one));
    MUST(aclrtStreamWaitEvent(two, events[0]));
    MUST(aclrtMemsetAsync(a, SIZE, 1, SIZE, one)); /* first */
    if (right) {
        MUST(aclrtRecordEvent(events[1], one));
        MUST(aclrtStreamWaitEvent(two, events[1]));
    }
    MUST(aclrtMemsetAsync(a, SIZE, 2, SIZE, two)); /* second */
    MUST(aclrtRecordEvent(events[2], two));
    MUST(aclrtStreamWaitEvent(one, events[2]));
    MUST(aclmdlRICaptureEnd(one, &graph));
    MUST(aclmdlRIExecuteAsync(graph, three));
    aclrtSynchronizeStream(three);
    MUST(aclmdlRIDestroy(graph));
    for (int i = 0; i < 3; i++)
        MUST(aclrtDestroyEvent(events[i]));
}

static void a_replay_beside_a_task(bool right)
{
    aclmdlRI graph;
    MUST(aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(a, SIZE, 1, SIZE, one)); /* first */
    MUST(aclmdlRICaptureEnd(one, &graph));
    MUST(aclmdlRIExecuteAsync(graph, one));
    if (right)
        order(one, two);
    aclrtMemsetAsync(a, SIZE, 2, SIZE, two); /* second */
    aclrtSynchronizeDevice();
    MUST(aclmdlRIDestroy(graph));
}

static aclError succeed(void *argument)
{
    (void)argument;
    return ACL_SUCCESS;
}

static void kernels_with_declared_ranges(bool right)
{
    const aclsimRange left = {a, 64, 1}, next = {a + (right ? 64 : 60), 64, 1};
    aclsimLaunchTask(one, succeed, NULL, &left, 1, 0); /* first */
    aclsimLaunchTask(two, succeed, NULL, &next, 1, 0); /* second */
}

static void a_use_before_its_allocation(bool right)
{
    const aclrtMemPoolProps settings = {.location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemPool pool;
    void *block;
    MUST(aclrtMemPoolCreate(&pool, &settings));
    MUST(aclrtMemPoolMallocAsync(&block, SIZE, pool, one)); /* first */
    if (right)
        order(one, two);
    aclrtMemsetAsync(block, SIZE, 1, SIZE, two); /* second */
    order(two, one);
    MUST(aclrtMemPoolFreeAsync(block, one));
    aclrtSynchronizeStream(one);
    MUST(aclrtMemPoolDestroy(pool));
}

/* ---- init ---- */

static char *fresh(void)
{
    void *block;
    MUST(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    return block;
}

static void a_result_that_nothing_wrote(bool right)
{
    char *block = fresh();
    if (right)
        MUST(aclrtMemset(block, 64, 0, 64));
    aclrtMemcpy(plain, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST); /* first */
    MUST(aclrtFree(block));
}

static void a_result_of_which_half_was_written(bool right)
{
    char *block = fresh();
    MUST(aclrtMemset(block, 64, 0, right ? 64 : 32));
    aclrtMemcpy(plain, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST); /* first */
    MUST(aclrtFree(block));
}

static void an_operand_that_nothing_wrote(bool right)
{
    void *block;
    MUST(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST)); /* first */
    if (right)
        MUST(aclrtMemset(block, 64, 0, 64));
    aclOpExecutor *executor = negation(vector(block, 16, 1, 0), vector(b, 16, 1, 0));
    aclnnNeg(NULL, 0, executor, one); /* second */
    aclrtSynchronizeStream(one);
    MUST(aclrtFree(block));
}

static void a_copy_of_what_nothing_wrote(bool right)
{
    char *from = fresh(), *to = fresh();
    if (right)
        MUST(aclrtMemset(from, 64, 0, 64));
    MUST(aclrtMemcpyAsync(to, 64, from, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, one));
    aclOpExecutor *executor = negation(vector(to, 16, 1, 0), vector(b, 16, 1, 0));
    aclnnNeg(NULL, 0, executor, one); /* first */
    aclrtSynchronizeStream(one);
    MUST(aclrtFree(from));
    MUST(aclrtFree(to));
}

static void what_a_strided_output_leaves_out(bool right)
{
    char *block = fresh();
    aclOpExecutor *writer = negation(vector(b, 8, 1, 0), vector(block, 8, 2, 0));
    aclOpExecutor *reader = negation(vector(block, 8, 2, right ? 0 : 1), vector(c, 8, 1, 0));
    MUST(aclnnNeg(NULL, 0, writer, one));
    aclnnNeg(NULL, 0, reader, one); /* first */
    aclrtSynchronizeStream(one);
    MUST(aclrtFree(block));
}

static void scratch_that_an_operator_writes_first(bool right)
{
    char *scratch = fresh();
    aclOpExecutor *writer = negation(vector(b, 16, 1, 0), vector(scratch, 16, 1, 0));
    aclOpExecutor *reader = negation(vector(scratch, 16, 1, 0), vector(c, 16, 1, 0));
    if (right)
        MUST(aclnnNeg(NULL, 0, writer, one));
    aclnnNeg(NULL, 0, reader, one); /* first */
    if (!right)
        MUST(aclnnNeg(NULL, 0, writer, one));
    aclrtSynchronizeStream(one);
    MUST(aclrtFree(scratch));
}

/* ---- sync ---- */

static void an_input_that_is_filled_again(bool right)
{
    MUST(aclsimStreamHold(one));
    aclrtMemcpyAsync(a, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, one); /* first */
    if (!right)
        memset(pinned, 7, SIZE);
    MUST(aclsimStreamRelease(one));
    aclrtSynchronizeStream(one);
    memset(pinned, 8, SIZE);
}

static void a_result_that_is_cleared_too_late(bool right)
{
    memset(pinned, 7, SIZE);
    MUST(aclsimStreamHold(one));
    aclrtMemcpyAsync(pinned, 100, a, 100, ACL_MEMCPY_DEVICE_TO_HOST, one); /* first */
    memset(pinned + (right ? 100 : 99), 0, 50);
    MUST(aclsimStreamRelease(one));
    aclrtSynchronizeStream(one);
}

/* ---- deadlock ---- */

static void a_flag_that_nobody_records(bool right)
{
    aclrtEvent flag;
    MUST(aclrtCreateEventWithFlag(&flag, ACL_EVENT_SYNC));
    aclrtStreamWaitEvent(one, flag); /* first */
    if (right)
        MUST(aclrtRecordEvent(flag, two));
    aclrtSynchronizeStream(one); /* second */
    MUST(aclrtDestroyEvent(flag));
}

static void a_notify_recorded_behind_its_wait(bool right)
{
    aclrtNotify notify;
    MUST(aclrtCreateNotify(&notify, 0));
    aclrtWaitAndResetNotify(notify, one, 0); /* first */
    aclrtRecordNotify(notify, right ? two : one); /* second */
    aclrtSynchronizeStream(one);
    MUST(aclrtDestroyNotify(notify));
}

/* ---- leak ---- */

static const int64_t n = 1;

#define LEAK(NAME, TYPE, MAKE, END)             \
    static void NAME(bool right)                \
    {                                           \
        TYPE it;                                \
        MAKE;                                   \
        if (right)                              \
            END(it);                            \
    }

/* clang-format off */
LEAK(a_stream, aclrtStream, aclrtCreateStream(&it), aclrtDestroyStream) /* first */
LEAK(a_context, aclrtContext, aclrtCreateContext(&it, 0), aclrtDestroyContext) /* first */
LEAK(an_event, aclrtEvent, aclrtCreateEvent(&it), aclrtDestroyEvent) /* first */
LEAK(a_notify, aclrtNotify, aclrtCreateNotify(&it, 0), aclrtDestroyNotify) /* first */
LEAK(a_dataset, aclmdlDataset *, it = aclmdlCreateDataset(), aclmdlDestroyDataset) /* first */
LEAK(a_data_buffer, aclDataBuffer *, it = aclCreateDataBuffer(NULL, 0), aclDestroyDataBuffer) /* first */
LEAK(a_model_description, aclmdlDesc *, it = aclmdlCreateDesc(), aclmdlDestroyDesc) /* first */
LEAK(a_set_of_attributes, aclopAttr *, it = aclopCreateAttr(), aclopDestroyAttr) /* first */
LEAK(a_tensor, aclTensor *, it = aclCreateTensor(&n, 1, 0, NULL, 0, 2, &n, 1, NULL), aclDestroyTensor) /* first */
LEAK(a_block, void *, aclrtMalloc(&it, 100, ACL_MEM_MALLOC_HUGE_FIRST), aclrtFree) /* first */
LEAK(a_pinned_block, void *, aclrtMallocHost(&it, 100), aclrtFreeHost) /* first */
/* clang-format on */

/* ---- the table ---- */

static const struct {
    const char *name, *check, *rule, *also;
    void (*run)(bool right);
} programs[] = {
#define ROW(NAME, CHECK, RULE, ALSO) {#NAME, CHECK, RULE, ALSO, NAME}
    ROW(a_set_behind_the_end, "memory", "beyond-requested-size", ""),
    ROW(a_queued_set_behind_the_end, "memory", "beyond-requested-size", ""),
    ROW(a_copy_behind_the_end, "memory", "beyond-requested-size", ""),
    ROW(a_strided_view_behind_the_end, "memory", "beyond-requested-size", "uninitialised-read"),
    ROW(a_use_after_the_free, "memory", "use-after-free", ""),
    ROW(a_copy_from_freed_memory, "memory", "use-after-free", ""),
    ROW(a_free_under_a_queued_set, "memory", "freed-in-use", "use-after-free"),
    ROW(a_free_under_a_queued_operator, "memory", "freed-in-use", "use-after-free"),
    ROW(pinned_memory_freed_under_a_copy, "memory", "freed-in-use", "use-after-free"),
    ROW(a_second_free, "memory", "invalid-free", ""),
    ROW(a_free_inside_a_block, "memory", "invalid-free", ""),
    ROW(a_free_of_another_kind, "memory", "invalid-free", ""),
    ROW(a_wrong_direction, "memory", "copy-direction", ""),
    ROW(a_wrong_direction_of_a_queued_copy, "memory", "copy-direction", ""),
    ROW(a_replay_with_other_memory, "memory", "stale-replay", ""),
    ROW(an_unaligned_tensor, "memory", "unaligned-tensor", ""),
    ROW(a_read_beside_a_write, "race", "race", ""),
    ROW(a_write_beside_a_read, "race", "race", ""),
    ROW(two_writes_that_overlap, "race", "race", ""),
    ROW(a_record_before_the_task, "race", "race", ""),
    ROW(a_wait_on_another_stream, "race", "race", ""),
    ROW(a_result_without_synchronise, "race", "race", ""),
    ROW(an_input_that_is_replaced_too_early, "race", "race", ""),
    ROW(columns_of_a_matrix, "race", "race", ""),
    ROW(halves_of_rows, "race", "race", ""),
    ROW(a_notify_before_the_task, "race", "race", ""),
    ROW(a_value_before_the_task, "race", "race", ""),
    ROW(a_branch_of_a_capture, "race", "race", ""),
    ROW(a_replay_beside_a_task, "race", "race", ""),
    ROW(kernels_with_declared_ranges, "race", "race", ""),
    ROW(a_use_before_its_allocation, "race", "race", ""),
    ROW(a_result_that_nothing_wrote, "init", "uninitialised-read", ""),
    ROW(a_result_of_which_half_was_written, "init", "uninitialised-read", ""),
    ROW(an_operand_that_nothing_wrote, "init", "uninitialised-read", ""),
    ROW(a_copy_of_what_nothing_wrote, "init", "uninitialised-read", ""),
    ROW(what_a_strided_output_leaves_out, "init", "uninitialised-read", ""),
    ROW(scratch_that_an_operator_writes_first, "init", "uninitialised-read", ""),
    ROW(an_input_that_is_filled_again, "sync", "host-write-before-copy", ""),
    ROW(a_result_that_is_cleared_too_late, "sync", "host-write-to-destination", ""),
    ROW(a_flag_that_nobody_records, "deadlock", "endless-wait", ""),
    ROW(a_notify_recorded_behind_its_wait, "deadlock", "circular-wait", ""),
    ROW(a_stream, "leak", "leaked-object", ""),
    ROW(a_context, "leak", "leaked-object", ""),
    ROW(an_event, "leak", "leaked-object", ""),
    ROW(a_notify, "leak", "leaked-object", ""),
    ROW(a_dataset, "leak", "leaked-object", ""),
    ROW(a_data_buffer, "leak", "leaked-object", ""),
    ROW(a_model_description, "leak", "leaked-object", ""),
    ROW(a_set_of_attributes, "leak", "leaked-object", ""),
    ROW(a_tensor, "leak", "leaked-object", ""),
    ROW(a_block, "leak", "leaked-memory", ""),
    ROW(a_pinned_block, "leak", "leaked-memory", ""),
};

static void run(size_t number, bool right)
{
    bool leaks = strcmp(programs[number].check, "leak") == 0;
    bool hangs = strcmp(programs[number].check, "deadlock") == 0 && !right;
    pthread_t rescuer;
    if (hangs)
        pthread_create(&rescuer, NULL, rescue, NULL);
    start();
    if (!leaks)
        open_setting();
    programs[number].run(right);
    if (hangs)
        pthread_join(rescuer, NULL);
    if (!leaks)
        close_setting();
    /* Reports leaks, also those of the setting. A faulty program may leave a block that it could not free. */
    if (right || leaks) {
        MUST(aclrtResetDevice(0));
        MUST(aclFinalize());
    }
    printf("%s %s %s %s %s\n", programs[number].name, right ? "right" : "faulty", programs[number].check,
           programs[number].rule, programs[number].also);
    for (size_t i = 0; i < aclsimFindingCount(); i++)
        printf("%s\n", aclsimFinding(i));
}

int main(void)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        run(i, true);
        run(i, false);
    }
    return 0;
}
