/* Design notes
 *
 * Launches of kernels: arguments, submission, execution, and changes of captured launches.
 *
 * A launch is one task. Its argument is one block without pointers into itself, so that it can be copied into a queue,
 * a capture or an update. The block holds the launch, then its arguments as the program passed them, the attributes,
 * the placeholders and the ranges. Each call of the kernel gets a copy of the arguments, into which the addresses of
 * the placeholders' data are written. Arguments in device memory are read when the task runs.
 *
 * The implementation is chosen when the kernel is launched, also for later changes of a captured launch. When the task
 * runs, it looks up its function by the handle again, and so detects that the binary was unloaded. An operation record
 * holds the name of a kernel and the core type that it runs on. There is one record per name and core type. The records
 * are never freed, because tasks, captures and messages point to them.
 *
 * There is no lock: operation records form a list that only grows, by compare-and-swap. */
#include "address/memory.h"
#include "base/clock.h"
#include "kernel_inner.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES 64            /* per launch, named by its implementation */
#define SMALL_BYTES 4096     /* largest block that is built on the stack */

/* The image of kernels without a binary; never freed. */
static struct sim_image nowhere = {.im_users = 1, .im_path = (char[]){""}, .im_name = (char[]){""}};

struct launch {
    uint64_t la_function;    /* 0: without a binary */
    aclsimCustomKernelFunc la_run;
    aclsimTouchFunc la_touch; /* NULL: the memory it touches is unknown */
    void *la_user;
    const char *la_kernel;   /* never freed */
    const void *la_device;   /* the arguments, if they are in device memory */
    uint64_t la_limit;       /* time limit in nanoseconds */
    uint32_t la_args_size;
    uint32_t la_first_block;
    dim3 la_grid, la_threads;
    uint32_t la_attributes, la_holders, la_ranges; /* counts */
    uint32_t la_spare;
};

static size_t whole_words(size_t size)
{
    return (size + 7) / 8 * 8;
}

static void *args_of(const struct launch *launch)
{
    return (unsigned char *)(uintptr_t)launch + sizeof *launch;
}

static aclrtLaunchKernelAttr *attributes_of(const struct launch *launch)
{
    size_t inside = launch->la_device == NULL ? whole_words(launch->la_args_size) : 0;
    return (void *)((unsigned char *)args_of(launch) + inside);
}

static aclrtPlaceHolderInfo *holders_of(const struct launch *launch)
{
    size_t size = whole_words(launch->la_attributes * sizeof(aclrtLaunchKernelAttr));
    return (void *)((unsigned char *)attributes_of(launch) + size);
}

static struct sim_range *ranges_of(const struct launch *launch)
{
    return (void *)((unsigned char *)holders_of(launch) + launch->la_holders * sizeof(aclrtPlaceHolderInfo));
}

static size_t size_of(const struct launch *launch)
{
    return (size_t)((unsigned char *)(ranges_of(launch) + launch->la_ranges) - (unsigned char *)(uintptr_t)launch);
}

/* ---- calling the implementation ---- */

/* A launch as the implementation sees it. */
struct call {
    aclsimKernelLaunch cl_shown;
    unsigned char *cl_copy; /* allocated with malloc, for arguments with placeholders */
};

static uint32_t blocks_of(const struct launch *launch)
{
    return launch->la_grid.x * launch->la_grid.y * launch->la_grid.z;
}

/* Returns false if memory runs out. */
static bool begin_call(const struct launch *launch, const struct sim_image *image, struct call *call)
{
    const void *args = launch->la_device != NULL ? sim_memory_reach(launch->la_device) : args_of(launch);
    call->cl_copy = NULL;
    if (launch->la_holders != 0) {
        call->cl_copy = malloc(launch->la_args_size);
        if (call->cl_copy == NULL)
            return false;
        memcpy(call->cl_copy, args, launch->la_args_size);
        for (uint32_t i = 0; i < launch->la_holders; i++) {
            const aclrtPlaceHolderInfo *holder = &holders_of(launch)[i];
            uint64_t address = (uint64_t)(uintptr_t)(call->cl_copy + holder->dataOffset);
            memcpy(call->cl_copy + holder->addrOffset, &address, sizeof address);
        }
        args = call->cl_copy;
    }
    call->cl_shown = (aclsimKernelLaunch){.binary = image->im_name,
                                          .kernel = launch->la_kernel,
                                          .args = args,
                                          .argsSize = launch->la_args_size,
                                          .numBlocks = blocks_of(launch),
                                          .gridDim = launch->la_grid,
                                          .blockDim = launch->la_threads,
                                          .userData = launch->la_user};
    return true;
}

static void look_at(const struct launch *launch, struct sim_kernel_view *view)
{
    *view = (struct sim_kernel_view){.kv_function = launch->la_function,
                                     .kv_blocks = blocks_of(launch),
                                     .kv_is_host = launch->la_device == NULL,
                                     .kv_args = launch->la_device != NULL ? launch->la_device : args_of(launch),
                                     .kv_args_size = launch->la_args_size,
                                     .kv_attributes = attributes_of(launch),
                                     .kv_attribute_count = launch->la_attributes};
}

/* The image of a live function with one more user, or NULL if the binary was unloaded. */
static struct sim_image *hold_image(uint64_t handle)
{
    if (handle == 0)
        return sim_kernel_image_hold(&nowhere);
    struct sim_function *function = sim_object_peek(&sim_kernel_functions, (void *)(uintptr_t)handle);
    if (function == NULL)
        return NULL;
    struct sim_image *image = sim_kernel_image_hold(function->fu_image);
    sim_object_close(function);
    return image;
}

/* The code for a launch that exceeded its time limit. */
static aclError late_code(enum sim_task_kind kind)
{
    return kind == SIM_TASK_HOST_KERNEL ? ACL_ERROR_RT_AICPU_TIMEOUT
           : kind == SIM_TASK_VECTOR    ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT
                                        : ACL_ERROR_RT_AICORE_TIMEOUT;
}

/* User code is not interrupted: the time limit is checked after each block. */
static aclError run_blocks(struct sim_run *run, const struct launch *launch, struct call *call)
{
    char said[SIM_REASON_BYTES], text[SIM_REASON_BYTES + 64];
    struct sim_asked asked = sim_fail_ask(said);
    uint32_t count = call->cl_shown.numBlocks, block = 0;
    uint64_t begin = launch->la_limit != SIM_FOREVER ? sim_clock_now() : 0;
    bool is_late = false;
    aclError code = ACL_SUCCESS;
    for (; block < count && code == ACL_SUCCESS && !is_late; block++) {
        call->cl_shown.blockIndex = launch->la_first_block + block;
        code = launch->la_run(&call->cl_shown);
        is_late = launch->la_limit != SIM_FOREVER && sim_clock_now() - begin > launch->la_limit;
    }
    sim_fail_asked(&asked);
    if (unlikely(code != ACL_SUCCESS)) {
        snprintf(text, sizeof text, "block %u of %u failed%s", block - 1, count, said);
        return sim_engine_give_up(run, sim_engine_user_code(code), text);
    }
    if (likely(!is_late))
        return ACL_SUCCESS;
    snprintf(text, sizeof text, "block %u of %u ended after the launch's time-out of %llu us", block - 1, count,
             (unsigned long long)(launch->la_limit / 1000));
    return sim_engine_give_up(run, late_code(run->rn_task->ta_op->op_kind), text);
}

static aclError run_with(struct sim_run *run, const struct launch *launch, struct sim_image *image)
{
    struct call call;
    if (!begin_call(launch, image, &call))
        return sim_engine_give_up(run, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for its arguments");
    aclError code = run_blocks(run, launch, &call);
    free(call.cl_copy);
    return code;
}

static aclError run_launch(struct sim_run *run, void *argument)
{
    struct sim_kernel_view view;
    const struct launch *launch = argument;
    struct sim_image *image = hold_image(launch->la_function);
    if (image == NULL)
        return sim_engine_give_up(run, ACL_ERROR_RT_KERNEL_UNREGISTERING, "its binary was unloaded before it ran");
    look_at(launch, &view);
    run->rn_kernel = &view;
    aclError code = run_with(run, launch, image);
    run->rn_kernel = NULL;
    sim_kernel_image_drop(image);
    return code;
}

static const struct sim_range *ranges_of_launch(const void *argument, size_t *count)
{
    const struct launch *launch = argument;
    *count = launch->la_ranges;
    return ranges_of(launch);
}

/* ---- operations ---- */

struct operation {
    struct operation *op_next;
    struct sim_op op_op;
    char op_text[];
};

static struct operation *_Atomic operations; /* only grows, at its head */

static const struct sim_op *find_operation(const struct operation *from, const char *name, enum sim_task_kind kind)
{
    for (; from != NULL; from = from->op_next)
        if (from->op_op.op_kind == kind && strcmp(from->op_text, name) == 0)
            return &from->op_op;
    return NULL;
}

const struct sim_op *sim_kernel_op(const char *name, enum sim_task_kind kind)
{
    struct operation *head = atomic_load_explicit(&operations, memory_order_acquire), *fresh = NULL;
    const struct sim_op *found;
    while ((found = find_operation(head, name, kind)) == NULL) {
        size_t size = strlen(name) + 1;
        if (fresh == NULL && (fresh = malloc(sizeof *fresh + size)) == NULL)
            return NULL;
        memcpy(fresh->op_text, name, size);
        fresh->op_op = (struct sim_op){.op_name = fresh->op_text, .op_run = run_launch, .op_ranges = ranges_of_launch,
                                       .op_flags = SIM_OP_KERNEL, .op_kind = kind};
        fresh->op_next = head;
        if (atomic_compare_exchange_weak_explicit(&operations, &head, fresh, memory_order_release,
                                                  memory_order_acquire))
            return &fresh->op_op;
    }
    free(fresh);
    return found;
}

/* ---- arguments ---- */

/* What a launch takes from its function. The image has one more user. */
struct chosen {
    uint64_t ch_handle;
    const struct sim_op *ch_op;
    struct sim_image *ch_image;
    struct sim_custom ch_custom;
};

static aclError choose(const struct sim_kernel_order *order, struct chosen *chosen)
{
    struct sim_function *function;
    SIM_TRY(order->ko_by_symbol ? sim_kernel_function_open_any(order->ko_function, &function)
                                : sim_kernel_function_open(order->ko_function, "funcHandle", &function));
    chosen->ch_handle = atomic_load_explicit(&function->fu_object.ob_slot.sl_handle, memory_order_relaxed);
    chosen->ch_op = function->fu_op;
    bool found = sim_kernel_function_custom(function, &chosen->ch_custom);
    chosen->ch_image = found ? sim_kernel_image_hold(function->fu_image) : NULL;
    sim_object_close(function);
    const char *name = chosen->ch_op->op_name;
    SIM_SUPPORTED(found,
                  "the code of kernel %s runs only on a card: register a function for it with "
                  "acl.sim.custom_kernel(\"%s\") or aclsimRegisterCustomKernel, or load a library that exports "
                  SIM_KERNEL_PREFIX "%s",
                  name, name, name);
    return ACL_SUCCESS;
}

/* Lays the arguments of an array out like the members of a struct, in memory from malloc. */
static aclError gather_array(void *const *array, const struct chosen *chosen, struct sim_host_args *gathered)
{
    const struct sim_custom *custom = &chosen->ch_custom;
    size_t end = 0;
    SIM_SUPPORTED(custom->cu_has_parameters,
                  "the parameters of kernel %s are not known, expected an implementation that names their sizes",
                  chosen->ch_op->op_name);
    for (uint32_t i = 0; i < custom->cu_count; i++) {
        SIM_ARGUMENT(array[i] != NULL, ACL_ERROR_INVALID_PARAM, "args[%u] is NULL, expected the address of a value", i);
        SIM_CHECK(sim_memory_is_host(array[i]), ACL_ERROR_RT_PARAM_INVALID,
                  "args[%u] is %p, which is device memory, expected the address of a value in host memory", i,
                  array[i]);
        end = sim_member_place(end, custom->cu_sizes[i]) + custom->cu_sizes[i];
    }
    unsigned char *bytes = calloc(1, end + 1);
    SIM_CHECK(bytes != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes of arguments", end);
    *gathered = (struct sim_host_args){.ha_bytes = bytes, .ha_size = end};
    for (uint32_t i = 0, place = 0; i < custom->cu_count; place += custom->cu_sizes[i++]) {
        place = (uint32_t)sim_member_place(place, custom->cu_sizes[i]);
        memcpy(bytes + place, array[i], custom->cu_sizes[i]);
    }
    return ACL_SUCCESS;
}

/* ---- the block ---- */

/* On P310P, two launches on two engines share the blocks of one kernel; other chips do not support that. */
static uint32_t first_block(const aclrtLaunchKernelCfg *config)
{
    if (config == NULL || sim_config()->cf_soc->so_profile != SIM_P310P)
        return 0;
    const aclrtLaunchKernelAttrValue *offset =
        sim_kernel_attribute(config->attrs, config->numAttrs, ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET);
    return offset != NULL ? offset->blockDimOffset : 0;
}

static void fill_block(struct launch *launch, const struct sim_kernel_order *order, const struct sim_host_args *host,
                       const struct chosen *chosen)
{
    size_t attributes = order->ko_config != NULL ? order->ko_config->numAttrs : 0;
    *launch = (struct launch){.la_function = chosen->ch_handle,
                              .la_run = chosen->ch_custom.cu_run,
                              .la_touch = chosen->ch_custom.cu_touch,
                              .la_user = chosen->ch_custom.cu_user,
                              .la_kernel = chosen->ch_op->op_name,
                              .la_device = order->ko_device,
                              .la_limit = sim_kernel_limit(order->ko_config),
                              .la_args_size =
                                  (uint32_t)(order->ko_device != NULL ? order->ko_device_size : host->ha_size),
                              .la_first_block = first_block(order->ko_config),
                              .la_grid = order->ko_grid,
                              .la_threads = order->ko_threads,
                              .la_attributes = (uint32_t)attributes,
                              .la_holders = (uint32_t)host->ha_holder_count};
    if (host->ha_size != 0)
        memcpy(args_of(launch), host->ha_bytes, host->ha_size);
    if (attributes != 0)
        memcpy(attributes_of(launch), order->ko_config->attrs, attributes * sizeof *order->ko_config->attrs);
    if (host->ha_holder_count != 0)
        memcpy(holders_of(launch), host->ha_holders, host->ha_holder_count * sizeof *host->ha_holders);
}

static aclError claim(struct launch *launch, const void *address, size_t size, bool write, const char *name)
{
    struct sim_range *range = &ranges_of(launch)[launch->la_ranges];
    *range = (struct sim_range){.rg_address = address, .rg_size = size, .rg_write = write};
    SIM_TRY(sim_memory_claim(range, name));
    launch->la_ranges++;
    return ACL_SUCCESS;
}

/* Claims the memory that the implementation says the launch touches. */
static aclError claim_touched(struct launch *launch, const struct sim_image *image)
{
    aclsimRange touched[RANGES];
    char said[SIM_REASON_BYTES];
    struct call call;
    if (launch->la_touch == NULL)
        return ACL_SUCCESS;
    SIM_CHECK(begin_call(launch, image, &call), ACL_ERROR_RT_MEMORY_ALLOCATION,
              "no host memory for %u bytes of arguments", launch->la_args_size);
    struct sim_asked asked = sim_fail_ask(said);
    size_t count = launch->la_touch(&call.cl_shown, touched, RANGES);
    sim_fail_asked(&asked);
    free(call.cl_copy);
    SIM_CHECK(count <= RANGES, ACL_ERROR_RT_PARAM_INVALID,
              "kernel %s declares %zu memory ranges, expected at most %d%s", launch->la_kernel, count, RANGES, said);
    for (size_t i = 0; i < count; i++) {
        struct sim_range *range = &ranges_of(launch)[launch->la_ranges];
        *range = (struct sim_range){
            .rg_address = touched[i].address, .rg_size = touched[i].size, .rg_write = touched[i].write != 0};
        if (unlikely(!sim_memory_try_claim(range))) {
            char name[64]; /* only for the message: it takes longer than all the rest of a launch */
            snprintf(name, sizeof name, "range %zu of kernel %.32s", i, launch->la_kernel);
            SIM_TRY(sim_memory_claim(range, name));
        }
        launch->la_ranges++;
    }
    return ACL_SUCCESS;
}

static aclError submit(const struct sim_kernel_order *order, const struct sim_host_args *host,
                       const struct chosen *chosen, struct sim_target stream, void *site)
{
    _Alignas(struct launch) unsigned char small[SMALL_BYTES];
    size_t attributes = order->ko_config != NULL ? order->ko_config->numAttrs : 0;
    size_t room = sizeof(struct launch) + whole_words(host->ha_size) +
                  whole_words(attributes * sizeof(aclrtLaunchKernelAttr)) +
                  host->ha_holder_count * sizeof(aclrtPlaceHolderInfo) + RANGES * sizeof(struct sim_range);
    struct launch *launch = room <= sizeof small ? (void *)small : malloc(room);
    SIM_CHECK(launch != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes of arguments", room);
    fill_block(launch, order, host, chosen);
    aclError code = order->ko_device != NULL ? claim(launch, order->ko_device, order->ko_device_size, false, "argsData")
                                             : claim_touched(launch, chosen->ch_image);
    if (code == ACL_SUCCESS)
        code = sim_engine_submit(stream, chosen->ch_op, launch, size_of(launch), site, NULL);
    if ((void *)launch != (void *)small)
        free(launch);
    return code;
}

/* The caller has counted itself as a user of the image. */
static aclError launch_chosen(const struct sim_kernel_order *order, const struct chosen *chosen, aclrtStream stream,
                              void *site)
{
    struct sim_host_args host = order->ko_host;
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    if (order->ko_list != NULL)
        SIM_TRY(sim_kernel_args_gather(order->ko_list, &host));
    else if (order->ko_array != NULL)
        SIM_TRY(gather_array(order->ko_array, chosen, &host));
    aclError code = submit(order, &host, chosen, target, site);
    if (host.ha_bytes != order->ko_host.ha_bytes) {
        free((void *)(uintptr_t)host.ha_bytes);
        free((void *)(uintptr_t)host.ha_holders);
    }
    return code;
}

aclError sim_kernel_launch_plain(const char *name, const aclsimCustomKernel *implementation,
                                 const struct sim_kernel_order *order, aclrtStream stream, void *site)
{
    struct chosen chosen = {.ch_op = sim_kernel_op(name, SIM_TASK_VECTOR), .ch_image = &nowhere};
    SIM_TRY(sim_kernel_check(order));
    SIM_TRY(sim_kernel_registry_read(implementation, &chosen.ch_custom));
    SIM_CHECK(chosen.ch_op != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the name of a kernel");
    return launch_chosen(order, &chosen, stream, site);
}

aclError sim_kernel_launch(const struct sim_kernel_order *order, aclrtStream stream, void *site)
{
    struct chosen chosen;
    SIM_TRY(sim_kernel_check(order));
    SIM_TRY(choose(order, &chosen));
    aclError code = launch_chosen(order, &chosen, stream, site);
    sim_kernel_image_drop(chosen.ch_image);
    return code;
}

/* ---- captured launches ---- */

bool sim_kernel_view(const struct sim_op *op, const void *argument, struct sim_kernel_view *view)
{
    if (op->op_run != run_launch)
        return false;
    look_at(argument, view);
    return true;
}

uint8_t sim_kernel_mode(const struct sim_op *op, const void *argument)
{
    struct sim_kernel_view view;
    if (!sim_kernel_view(op, argument, &view))
        return 0;
    const aclrtLaunchKernelAttrValue *mode =
        sim_kernel_attribute(view.kv_attributes, view.kv_attribute_count, ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    return mode != NULL ? mode->schemMode : 0;
}

static aclError check_change(const struct launch *launch, const aclmdlRIKernelTaskParams *given)
{
    SIM_CHECK((uint64_t)(uintptr_t)given->funcHandle == launch->la_function, ACL_ERROR_RT_PARAM_INVALID,
              "funcHandle is %p, expected the task's own, %#llx", given->funcHandle,
              (unsigned long long)launch->la_function);
    SIM_CHECK(given->numBlocks != 0 && given->numBlocks <= SIM_BLOCKS_MAX, ACL_ERROR_RT_PARAM_INVALID,
              "numBlocks is %u, expected 1 to %d", given->numBlocks, SIM_BLOCKS_MAX);
    SIM_CHECK(given->args != NULL && (given->isHostArgs != 0) == (launch->la_device == NULL) &&
                  given->argsSize == launch->la_args_size,
              ACL_ERROR_RT_PARAM_INVALID,
              "args is %p, isHostArgs %u and argsSize %zu, expected %u bytes in %s memory, as aclmdlRITaskGetParams "
              "returned them",
              given->args, given->isHostArgs, given->argsSize, launch->la_args_size,
              launch->la_device == NULL ? "host" : "device");
    SIM_CHECK(launch->la_device != NULL || sim_memory_is_host(given->args), ACL_ERROR_RT_PARAM_INVALID,
              "args is %p, which is device memory, expected host memory", given->args);
    SIM_TRY(sim_kernel_check_config(given->cfg));
    SIM_CHECK(given->cfg == NULL || given->cfg->numAttrs == launch->la_attributes, ACL_ERROR_RT_PARAM_INVALID,
              "cfg has %zu attributes, expected the %u that the task was launched with, or NULL to keep them",
              given->cfg != NULL ? given->cfg->numAttrs : 0, launch->la_attributes);
    return ACL_SUCCESS;
}

void *sim_kernel_copy(const void *argument)
{
    const struct launch *launch = argument;
    size_t size = size_of(launch);
    struct launch *copy = malloc(size + (RANGES - launch->la_ranges) * sizeof(struct sim_range));
    return copy != NULL ? memcpy(copy, launch, size) : NULL;
}

static aclError claim_changed(struct launch *launch)
{
    launch->la_ranges = 0;
    if (launch->la_device != NULL)
        return claim(launch, launch->la_device, launch->la_args_size, false, "args");
    struct sim_image *image = hold_image(launch->la_function);
    if (image == NULL) /* the implementation cannot be asked, and the task will fail */
        return ACL_SUCCESS;
    aclError code = claim_touched(launch, image);
    sim_kernel_image_drop(image);
    return code;
}

aclError sim_kernel_change(void *copy, const aclmdlRIKernelTaskParams *given)
{
    struct launch *launch = copy;
    SIM_TRY(check_change(launch, given));
    if (launch->la_device != NULL)
        launch->la_device = given->args;
    else
        memcpy(args_of(launch), given->args, given->argsSize);
    if (given->numBlocks != blocks_of(launch)) /* otherwise the grid of a SIMT kernel stays as it is */
        launch->la_grid = (dim3){given->numBlocks, 1, 1};
    if (given->cfg != NULL) {
        launch->la_limit = sim_kernel_limit(given->cfg);
        launch->la_first_block = first_block(given->cfg);
        if (launch->la_attributes != 0)
            memcpy(attributes_of(launch), given->cfg->attrs, launch->la_attributes * sizeof *given->cfg->attrs);
    }
    return claim_changed(launch);
}
