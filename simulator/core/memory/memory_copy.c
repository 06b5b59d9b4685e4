/* Copies and sets of memory.
 *
 * Synchronous ones use no stream: the calling thread checks, looks the addresses up and copies. Asynchronous ones
 * with a pageable side wait for the stream and then do the same. All others are tasks, which own the program's
 * addresses and the allocation ids of their blocks. This file has no state and no lock. */
#include "memory_copy.h"
#include "address/peer.h"
#include "base/bytes.h"
#include "base/config.h"
#include "base/saver.h"
#include "base/watcher.h"
#include "engine/device.h"
#include "engine/recorder.h"
#include "ipc.h"
#include "task_system.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks: the ranges are the first members of each type ---- */

struct copy_task {
    struct sim_range cp_src, cp_dst;
};

struct rectangle_task {
    struct copy_task rt_copy; /* each range covers a side from its first byte to its last */
    struct sim_rectangle rt_shape;
};
_Static_assert(sizeof(struct rectangle_task) <= SIM_TASK_BYTES, "every copy stays in its task");

struct set_task {
    struct sim_range se_range;
    uint32_t se_pattern;
};

static aclError run_copy(struct sim_run *run, void *argument)
{
    const struct copy_task *task = argument;
    (void)run;
    memmove(sim_memory_reach(task->cp_dst.rg_address), sim_memory_reach(task->cp_src.rg_address),
            task->cp_dst.rg_size);
    return ACL_SUCCESS;
}

static void drop_staged(void *argument)
{
    const struct copy_task *task = argument;
    free((void *)(uintptr_t)task->cp_src.rg_address);
}

static aclError run_staged(struct sim_run *run, void *argument)
{
    run_copy(run, argument);
    drop_staged(argument);
    return ACL_SUCCESS;
}

void sim_memory_copy_rows(const void *dst, const void *src, const struct sim_rectangle *shape)
{
    char *to = sim_memory_reach(dst);
    const char *from = sim_memory_reach(src);
    for (uint64_t row = 0; row < shape->rc_height; row++)
        memmove(to + row * shape->rc_dst_pitch, from + row * shape->rc_src_pitch, shape->rc_width);
}

static aclError run_rectangle(struct sim_run *run, void *argument)
{
    const struct rectangle_task *task = argument;
    (void)run;
    sim_memory_copy_rows(task->rt_copy.cp_dst.rg_address, task->rt_copy.cp_src.rg_address, &task->rt_shape);
    return ACL_SUCCESS;
}

void sim_memory_fill(const void *address, uint32_t pattern, uint64_t size)
{
    char *to = sim_memory_reach(address);
    if (size == sizeof pattern) {
        memcpy(to, &pattern, sizeof pattern);
        return;
    }
    if (size == sizeof(uint64_t) && (uintptr_t)to % sizeof(uint64_t) == 0) {
        /* In one store, because a task may wait for this value and read it at the same time (task_value.c). */
        atomic_store_explicit((_Atomic uint64_t *)(void *)to, pattern * UINT64_C(0x100000001), memory_order_relaxed);
        return;
    }
    if (pattern == (pattern & 0xff) * UINT32_C(0x01010101)) {
        memset(to, (int)(pattern & 0xff), size);
        return;
    }
    for (uint64_t at = 0; at + sizeof pattern <= size; at += sizeof pattern)
        memcpy(to + at, &pattern, sizeof pattern);
}

SIM_HOT static aclError run_set(struct sim_run *run, void *argument)
{
    const struct set_task *task = argument;
    (void)run;
    sim_memory_fill(task->se_range.rg_address, task->se_pattern, task->se_range.rg_size);
    return ACL_SUCCESS;
}

/* ---- as steps of a saved model ---- */

static aclError save_rows(struct sim_saver *saver, const struct copy_task *task, const struct sim_rectangle *shape)
{
    enum sim_access write = shape->rc_width == task->cp_dst.rg_size ? SIM_ACCESS_FILL : SIM_ACCESS_WRITE;
    sim_saver_step(saver, SIM_SAVED_COPY);
    sim_saver_place(saver, task->cp_dst.rg_address, task->cp_dst.rg_size, write);
    sim_saver_place(saver, task->cp_src.rg_address, task->cp_src.rg_size, SIM_ACCESS_READ);
    sim_saver_bytes(saver, shape, sizeof *shape);
    return ACL_SUCCESS;
}

static aclError save_copy(const void *argument, struct sim_saver *saver)
{
    const struct copy_task *task = argument;
    uint64_t size = task->cp_dst.rg_size;
    return save_rows(saver, task, &(struct sim_rectangle){size, size, size, 1});
}

static aclError save_rectangle(const void *argument, struct sim_saver *saver)
{
    const struct rectangle_task *task = argument;
    return save_rows(saver, &task->rt_copy, &task->rt_shape);
}

static aclError save_set(const void *argument, struct sim_saver *saver)
{
    const struct set_task *task = argument;
    sim_saver_step(saver, SIM_SAVED_SET);
    sim_saver_place(saver, task->se_range.rg_address, task->se_range.rg_size, SIM_ACCESS_FILL);
    sim_saver_u32(saver, task->se_pattern);
    return ACL_SUCCESS;
}

/* ---- exactly what they touch ---- */

struct sides {
    int64_t sd_dims[2], sd_from_strides[2], sd_to_strides[2];
    struct sim_footprint sd_from, sd_to;
};

static void set_sides(struct sides *sides, const struct copy_task *task, const struct sim_rectangle *shape)
{
    *sides = (struct sides){.sd_dims = {(int64_t)shape->rc_height, (int64_t)shape->rc_width},
                            .sd_from_strides = {(int64_t)shape->rc_src_pitch, 1},
                            .sd_to_strides = {(int64_t)shape->rc_dst_pitch, 1}};
    sides->sd_from = (struct sim_footprint){.fp_address = task->cp_src.rg_address, .fp_element = 1, .fp_rank = 2,
                                            .fp_dims = sides->sd_dims, .fp_strides = sides->sd_from_strides,
                                            .fp_birth = task->cp_src.rg_birth, .fp_read = true, .fp_name = "src"};
    sides->sd_to = (struct sim_footprint){.fp_address = task->cp_dst.rg_address, .fp_element = 1, .fp_rank = 2,
                                          .fp_dims = sides->sd_dims, .fp_strides = sides->sd_to_strides,
                                          .fp_birth = task->cp_dst.rg_birth, .fp_write = true, .fp_name = "dst"};
}

static void footprints_of_rectangle(const void *argument, sim_visit_footprint *visit, void *context)
{
    const struct rectangle_task *task = argument;
    struct sides sides;
    set_sides(&sides, &task->rt_copy, &task->rt_shape);
    visit(&sides.sd_from, context);
    visit(&sides.sd_to, context);
}

/* One kind of task at three weights. */
#define WEIGHT(name, run, ranges, drop, save, kind, flags)                                                             \
    {.op_name = name, .op_run = run, .op_range_count = ranges, .op_drop = drop, .op_save = save, .op_kind = kind,      \
     .op_flags = (flags)}
#define WEIGHTS(name, run, ranges, drop, save, kind, flags)                                                            \
    {                                                                                                                  \
        WEIGHT(name, run, ranges, drop, save, kind, SIM_OP_LIGHT | (flags)),                                           \
            WEIGHT(name, run, ranges, drop, save, kind, flags),                                                        \
            WEIGHT(name, run, ranges, drop, save, kind, SIM_OP_HEAVY | (flags))                                        \
    }

#define COPY_WEIGHTS(name) WEIGHTS(name, run_copy, 2, NULL, save_copy, SIM_TASK_COPY, 0)
static const struct sim_op copy_ops[SIM_COPY_CALLS][3] = {
    [SIM_COPY_ASYNC] = COPY_WEIGHTS("aclrtMemcpyAsync"),
    [SIM_COPY_CONDITION] = COPY_WEIGHTS("aclrtMemcpyAsyncWithCondition"),
    [SIM_COPY_BATCH] = COPY_WEIGHTS("aclrtMemcpyBatchAsync"),
    [SIM_COPY_BATCH_V2] = COPY_WEIGHTS("aclrtMemcpyBatchAsyncV2"),
    [SIM_COPY_TO_SYMBOL] = COPY_WEIGHTS("aclrtMemcpyToSymbolAsync"),
    [SIM_COPY_FROM_SYMBOL] = COPY_WEIGHTS("aclrtMemcpyFromSymbolAsync"),
};
/* Only single copies are staged. */
#define STAGED_WEIGHTS(name) WEIGHTS(name, run_staged, 2, drop_staged, NULL, SIM_TASK_COPY, SIM_OP_LIVE)
static const struct sim_op staged_ops[][3] = {
    [SIM_COPY_ASYNC] = STAGED_WEIGHTS("aclrtMemcpyAsync"),
    [SIM_COPY_CONDITION] = STAGED_WEIGHTS("aclrtMemcpyAsyncWithCondition"),
};
#define RECTANGLE_OP(flags)                                                                                            \
    {.op_name = "aclrtMemcpy2dAsync", .op_run = run_rectangle, .op_range_count = 2, .op_save = save_rectangle,         \
     .op_kind = SIM_TASK_COPY, .op_footprints = footprints_of_rectangle, .op_flags = (flags)}
static const struct sim_op rectangle_ops[] = {RECTANGLE_OP(SIM_OP_LIGHT), RECTANGLE_OP(0), RECTANGLE_OP(SIM_OP_HEAVY)};
static const struct sim_op byte_ops[] =
    WEIGHTS("aclrtMemsetAsync", run_set, 1, NULL, save_set, SIM_TASK_SET, 0);
static const struct sim_op word_ops[] =
    WEIGHTS("aclrtMemsetD32Async", run_set, 1, NULL, save_set, SIM_TASK_SET, 0);

/* ---- checks ---- */

/* Two sides on different devices: the current context's device makes the copy, so it must reach both. */
static aclError check_peers(const struct sim_place *dst, const struct sim_place *src)
{
    if (dst->pl_class != SIM_MEMORY_DEVICE || src->pl_class != SIM_MEMORY_DEVICE ||
        likely(dst->pl_block.bk_device == src->pl_block.bk_device))
        return ACL_SUCCESS;
    int32_t current = sim_thread.th_context->cx_device->dv_id;
    int32_t from = src->pl_block.bk_device, to = dst->pl_block.bk_device;
    SIM_CHECK(sim_peer_reaches(current, from) && sim_peer_reaches(current, to), ACL_ERROR_RT_PARAM_INVALID,
              "src lies on device %d and dst on device %d, expected one device, or peer access of device %d, which is "
              "current, to device %d (aclrtDeviceEnablePeerAccess)",
              from, to, current, sim_peer_reaches(current, from) ? to : from);
    return ACL_SUCCESS;
}

/* `kind` is ignored for synchronous copies. Rare functions such as the one called here locate both sides again, so that
 * their callers can keep the places in registers. */
static aclError check_imported(const void *dst, const void *src, const struct sim_place places[2], bool is_async,
                               aclrtMemcpyKind kind)
{
    bool imported = sim_memory_is_imported(&places[0]) || sim_memory_is_imported(&places[1]);
    return unlikely(imported) ? sim_ipc_check_copy(dst, src, is_async, kind) : ACL_SUCCESS;
}

static aclError locate_both(void *dst, const void *src, uint64_t dst_size, uint64_t src_size, const char *size_name,
                            struct sim_place places[2])
{
    SIM_TRY(sim_memory_span(dst, dst_size, "dst", size_name, &places[0]));
    SIM_TRY(sim_memory_span(src, src_size, "src", size_name, &places[1]));
    return check_peers(&places[0], &places[1]);
}

/* The bytes from the first to the last of a rectangle. */
static aclError extent(const struct sim_rectangle *shape, uint64_t pitch, const char *name, uint64_t *bytes)
{
    *bytes = shape->rc_height - 1;
    SIM_CHECK(sim_size_multiply(bytes, pitch) && !__builtin_add_overflow(*bytes, shape->rc_width, bytes),
              ACL_ERROR_RT_PARAM_INVALID,
              "%s is %" PRIu64 " and height is %" PRIu64 ", expected a product below 2^64", name, pitch,
              shape->rc_height);
    return ACL_SUCCESS;
}

static aclError locate_rectangle(void *dst, const void *src, const struct sim_rectangle *shape, uint64_t *dst_size,
                                 uint64_t *src_size, struct sim_place places[2])
{
    SIM_TRY(extent(shape, shape->rc_dst_pitch, "dpitch", dst_size));
    SIM_TRY(extent(shape, shape->rc_src_pitch, "spitch", src_size));
    return locate_both(dst, src, *dst_size, *src_size, "the extent (height - 1) * pitch + width", places);
}

static const char *const kind_names[] = {"ACL_MEMCPY_HOST_TO_HOST", "ACL_MEMCPY_HOST_TO_DEVICE",
                                         "ACL_MEMCPY_DEVICE_TO_HOST", "ACL_MEMCPY_DEVICE_TO_DEVICE"};

/* If one side is managed memory, every copy is a task: the thread that runs the stream makes it. */
static bool is_managed(const struct sim_place places[2])
{
    return places[0].pl_class == SIM_MEMORY_MANAGED || places[1].pl_class == SIM_MEMORY_MANAGED;
}

/* The direction of an asynchronous copy. Known memory decides it. If one side is pageable memory, `kind` must fit.
 * Managed memory has no direction and is not treated as pageable. If the program runs on the device, all memory is
 * device memory and every copy goes from device to device. */
static aclError direction_of(const struct sim_place places[2], aclrtMemcpyKind kind, aclrtMemcpyKind *direction)
{
    *direction = ACL_MEMCPY_DEVICE_TO_DEVICE;
    if (is_managed(places) || unlikely(sim_memory_runs_on_device()))
        return ACL_SUCCESS;
    enum sim_memory_class dst = places[0].pl_class, src = places[1].pl_class;
    bool to_device = dst == SIM_MEMORY_DEVICE, from_device = src == SIM_MEMORY_DEVICE;
    aclrtMemcpyKind known = to_device ? (from_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE)
                                      : (from_device ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST);
    *direction = known;
    if ((dst == SIM_MEMORY_FOREIGN || src == SIM_MEMORY_FOREIGN) && kind != ACL_MEMCPY_DEFAULT) {
        aclrtMemcpyKind other = ACL_MEMCPY_DEVICE_TO_DEVICE;
        if (dst == SIM_MEMORY_FOREIGN && src == SIM_MEMORY_HOST)
            other = ACL_MEMCPY_HOST_TO_DEVICE;
        else if (dst == SIM_MEMORY_HOST)
            other = ACL_MEMCPY_DEVICE_TO_HOST;
        SIM_CHECK(kind == known || kind == other || dst == src, ACL_ERROR_RT_PARAM_INVALID,
                  "kind is %s, expected %s, %s or ACL_MEMCPY_DEFAULT: src is %s, dst is %s", kind_names[kind],
                  kind_names[known], kind_names[other], sim_memory_describe(&places[1]),
                  sim_memory_describe(&places[0]));
        *direction = kind;
    }
    SIM_SUPPORTED(*direction != ACL_MEMCPY_HOST_TO_HOST,
                  "an asynchronous copy cannot go from host to host (src is %s, dst is %s), expected aclrtMemcpy",
                  sim_memory_describe(&places[1]), sim_memory_describe(&places[0]));
    return ACL_SUCCESS;
}

/* A copy between device and pageable host memory is made by the calling thread, after the stream's earlier work. */
static bool is_pageable(const struct sim_place places[2], aclrtMemcpyKind direction)
{
    return direction != ACL_MEMCPY_DEVICE_TO_DEVICE &&
           (places[0].pl_class == SIM_MEMORY_FOREIGN || places[1].pl_class == SIM_MEMORY_FOREIGN);
}

/* If nothing is recorded, the copy is made at once: a stream bound to a finished recording has no work of its own. */
static bool is_recording(struct sim_target stream)
{
    enum sim_taken taken = sim_stream_taken(stream.tg_stream);
    return taken != SIM_TAKEN_NOT && taken != SIM_TAKEN_BOUND;
}

SIM_RARE aclError sim_memory_wait_for_work(struct sim_target stream)
{
    SIM_TRY(sim_engine_may_wait());
    SIM_CHECK(!is_recording(stream), ACL_ERROR_RT_PARAM_INVALID,
              "the stream is being captured and one side of the copy is ordinary host memory, expected memory of "
              "aclrtMallocHost");
    SIM_TRY(sim_recorder_allow(sim_thread.th_context, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC));
    uint64_t began = sim_stream_begin_wait();
    uint64_t tail = sim_stream_tail(stream.tg_stream);
    enum sim_wait wait = sim_engine_wait(stream.tg_stream, tail, SIM_FOREVER, SIM_HELPER);
    SIM_TRY(sim_engine_refusal(wait));
    if (sim_watcher_any())
        sim_watcher_know(sim_record_of(stream.tg_stream, tail));
    SIM_TRY(sim_stream_check_aborted(stream.tg_stream, began));
    return sim_stream_take_error(stream.tg_stream);
}

/* ---- synchronous ---- */

static inline aclError begin(bool unlocked)
{
    struct sim_context *context;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(unlocked ? sim_context_current_unlocked(&context) : sim_context_current(&context));
    SIM_TRY(sim_context_check_aborting(context));
    return sim_recorder_allow(context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
}

/* Tell watchers what the calling thread itself is about to access. */
SIM_RARE static struct sim_range range_of(const void *address, uint64_t size, bool write)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    return sim_memory_range(&place, address, size, write);
}

#define ROWS_AT_ONCE 64

/* The rows of both sides, without the bytes between them. */
SIM_RARE static void tell_copied_rows(const void *dst, const void *src, const struct sim_rectangle *shape)
{
    struct sim_range ranges[2 * ROWS_AT_ONCE];
    struct sides sides;
    size_t count = 0;
    for (uint64_t row = 0; row < shape->rc_height; row++) {
        ranges[count++] = range_of((const char *)src + row * shape->rc_src_pitch, shape->rc_width, false);
        ranges[count++] = range_of((const char *)dst + row * shape->rc_dst_pitch, shape->rc_width, true);
        if (count == 2 * ROWS_AT_ONCE || row + 1 == shape->rc_height) {
            sim_watcher_access(ranges, count);
            count = 0;
        }
    }
    set_sides(&sides, &(struct copy_task){range_of(src, shape->rc_width, false), range_of(dst, shape->rc_width, true)},
              shape);
    sim_watcher_copy(&sides.sd_from, &sides.sd_to);
}

SIM_RARE static void tell_copied(const void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind)
{
    if (kind != ACL_MEMCPY_DEFAULT)
        sim_watcher_direction(dst, src, kind);
    tell_copied_rows(dst, src, &(struct sim_rectangle){size, size, size, 1});
}

SIM_RARE static void tell_set(const void *address, uint64_t size)
{
    const struct sim_range range = range_of(address, size, true);
    sim_watcher_access(&range, 1);
}

static inline aclError copy_now(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind, bool watched)
{
    struct sim_place places[2];
    SIM_TRY(begin(!watched)); /* one look for both: sim_watcher_any would be true in a locked process, too */
    if (unlikely(dst == src))
        return ACL_SUCCESS;
    SIM_TRY(locate_both(dst, src, size, size, "count", places));
    SIM_TRY(check_imported(dst, src, places, false, ACL_MEMCPY_DEFAULT));
    if (watched)
        tell_copied(dst, src, size, kind);
    memmove((char *)dst + places[0].pl_engine, (const char *)src + places[1].pl_engine, size);
    sim_task_value_written();
    return ACL_SUCCESS;
}

SIM_RARE static aclError copy_watched(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind)
{
    return copy_now(dst, src, size, kind, true);
}

aclError sim_memory_copy_kind(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind)
{
    return sim_watcher_any() ? copy_watched(dst, src, size, kind) : copy_now(dst, src, size, kind, false);
}

aclError sim_memory_copy(void *dst, const void *src, uint64_t size)
{
    return sim_memory_copy_kind(dst, src, size, ACL_MEMCPY_DEFAULT);
}

aclError sim_memory_set(void *address, uint32_t pattern, uint64_t size)
{
    struct sim_place place;
    SIM_TRY(begin(false));
    SIM_TRY(sim_memory_span(address, size, "devPtr", "count", &place));
    if (sim_watcher_any())
        tell_set(address, size);
    sim_memory_fill(address, pattern, size);
    sim_task_value_written();
    return ACL_SUCCESS;
}

aclError sim_memory_copy_2d(void *dst, const void *src, const struct sim_rectangle *shape)
{
    struct sim_place places[2];
    uint64_t dst_size, src_size;
    SIM_TRY(begin(false));
    SIM_TRY(locate_rectangle(dst, src, shape, &dst_size, &src_size, places));
    SIM_TRY(check_imported(dst, src, places, false, ACL_MEMCPY_DEFAULT));
    bool to_device = places[0].pl_class == SIM_MEMORY_DEVICE, from_device = places[1].pl_class == SIM_MEMORY_DEVICE;
    SIM_SUPPORTED(!to_device || !from_device,
                  "a synchronous 2-D copy cannot go from device to device, expected aclrtMemcpy2dAsync");
    SIM_CHECK(to_device || from_device || is_managed(places), ACL_ERROR_RT_PARAM_INVALID,
              "dst is %s and src is %s, expected device memory on one side", sim_memory_describe(&places[0]),
              sim_memory_describe(&places[1]));
    if (sim_watcher_any())
        tell_copied_rows(dst, src, shape);
    sim_memory_copy_rows(dst, src, shape);
    sim_task_value_written();
    return ACL_SUCCESS;
}

/* ---- asynchronous ---- */

/* `kind` is not the copy's direction, or leaves it open. */
SIM_RARE static void tell_direction(const void *dst, const void *src, aclrtMemcpyKind kind)
{
    if (sim_watcher_any() && kind != ACL_MEMCPY_DEFAULT)
        sim_watcher_direction(dst, src, kind);
}

/* Copies the source before the call returns, so that the program may reuse it at once. */
SIM_RARE static aclError copy_staged(struct copy_task *task, enum sim_copy_call call, struct sim_target stream,
                                     void *site)
{
    struct sim_place places[2];
    sim_memory_locate(task->cp_dst.rg_address, &places[0]);
    sim_memory_locate(task->cp_src.rg_address, &places[1]);
    SIM_CHECK(places[0].pl_class == SIM_MEMORY_DEVICE && places[1].pl_class != SIM_MEMORY_DEVICE,
              ACL_ERROR_RT_PARAM_INVALID,
              "kind is ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, src is %s and dst is %s, expected host and device memory",
              sim_memory_describe(&places[1]), sim_memory_describe(&places[0]));
    SIM_CHECK(sim_stream_taken(stream.tg_stream) == SIM_TAKEN_NOT, ACL_ERROR_RT_PARAM_INVALID,
              "kind is ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE and the stream is bound to a model running instance, expected "
              "another kind or another stream");
    uint64_t size = task->cp_src.rg_size;
    if (sim_watcher_any())
        sim_watcher_access(&task->cp_src, 1);
    void *buffer = malloc(size);
    SIM_CHECK(buffer != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory to stage count = %" PRIu64 " bytes",
              size);
    memcpy(buffer, task->cp_src.rg_address, size);
    task->cp_src = (struct sim_range){.rg_address = buffer, .rg_size = size};
    aclError code = sim_engine_submit(stream, &staged_ops[call][sim_task_weight(size)], task, sizeof *task, site, NULL);
    if (code != ACL_SUCCESS)
        free(buffer);
    return code;
}

aclError sim_memory_copy_async(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind, enum sim_copy_call call,
                               struct sim_target stream, void *site)
{
    struct sim_place places[2];
    aclrtMemcpyKind direction;
    if (unlikely(dst == src))
        return ACL_SUCCESS;
    SIM_TRY(locate_both(dst, src, size, size, "count", places));
    SIM_TRY(check_imported(dst, src, places, true, kind));
    struct copy_task task = {sim_memory_range(&places[1], src, size, false),
                             sim_memory_range(&places[0], dst, size, true)};
    if (unlikely(kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE))
        return copy_staged(&task, call, stream, site);
    SIM_TRY(direction_of(places, kind, &direction));
    if (is_pageable(places, direction)) {
        SIM_TRY(sim_memory_wait_for_work(stream));
        return sim_memory_copy(dst, src, size);
    }
    if (unlikely(kind != direction))
        tell_direction(dst, src, kind);
    return sim_engine_submit(stream, &copy_ops[call][sim_task_weight(size)], &task, sizeof task, site, NULL);
}

aclError sim_memory_copy_2d_async(void *dst, const void *src, const struct sim_rectangle *shape, aclrtMemcpyKind kind,
                                  struct sim_target stream, void *site)
{
    struct sim_place places[2];
    uint64_t dst_size, src_size;
    aclrtMemcpyKind direction;
    SIM_TRY(locate_rectangle(dst, src, shape, &dst_size, &src_size, places));
    SIM_TRY(check_imported(dst, src, places, true, kind));
    SIM_TRY(direction_of(places, kind, &direction));
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    SIM_SUPPORTED(direction != ACL_MEMCPY_DEVICE_TO_DEVICE || profile <= SIM_PA2,
                  "%s has no 2-D copy from device to device", sim_config()->cf_soc->so_name);
    if (is_pageable(places, direction)) {
        SIM_TRY(sim_memory_wait_for_work(stream));
        SIM_TRY(locate_rectangle(dst, src, shape, &dst_size, &src_size, places)); /* still allocated? */
        if (sim_watcher_any())
            tell_copied_rows(dst, src, shape);
        sim_memory_copy_rows(dst, src, shape);
        sim_task_value_written();
        return ACL_SUCCESS;
    }
    struct rectangle_task task = {.rt_copy = {sim_memory_range(&places[1], src, src_size, false),
                                              sim_memory_range(&places[0], dst, dst_size, true)},
                                  .rt_shape = *shape};
    const struct sim_op *op = &rectangle_ops[sim_task_weight(shape->rc_width * shape->rc_height)];
    return sim_engine_submit(stream, op, &task, sizeof task, site, NULL);
}

aclError sim_memory_set_async(void *address, uint32_t pattern, uint64_t size, bool words, struct sim_target stream,
                              void *site)
{
    struct sim_place place;
    SIM_TRY(sim_memory_span(address, size, words ? "ptr" : "devPtr", words ? "N * 4" : "count", &place));
    if (!sim_memory_is_device(&place)) { /* at once, without ordering against the stream */
        SIM_CHECK(!is_recording(stream), ACL_ERROR_RT_PARAM_INVALID,
                  "the stream is being captured and the memory is %s, which would be set immediately, expected device "
                  "memory",
                  sim_memory_describe(&place));
        if (sim_watcher_any())
            tell_set(address, size);
        sim_memory_fill(address, pattern, size);
        return ACL_SUCCESS;
    }
    struct set_task task = {sim_memory_range(&place, address, size, true), pattern};
    const struct sim_op *op = &(words ? word_ops : byte_ops)[sim_task_weight(size)];
    return sim_engine_submit(stream, op, &task, sizeof task, site, NULL);
}
