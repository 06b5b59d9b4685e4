/* The checker of leaks: what public calls of the program made, and the program has not destroyed or freed when a device
 * is reset, at aclFinalize, or when the process ends. aclsimReset reports nothing: tests reset on purpose.
 *
 * For each slot of a table of handles there is a record of the call that made its newest handle. Only calls of `makers`
 * count, so that the library's own objects, such as the default stream of a context, are not the program's; nor are
 * those of a library that ends what it makes (aclsimSetLibrary). No call reports the end of a handle: it has ended when
 * its slot has another value. In the same way, a block of memory (check_block.c) has ended when another allocation id
 * is at its address, also if it ended with its device.
 *
 * `lock` guards the records. It is a leaf, and is not held while leaks are collected from memory and models. */
#include "address/memory.h"
#include "base/handle.h"
#include "check.h"
#include "engine/context.h"
#include "engine/device.h"
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is the program's ---- */

/* Calls whose names begin so return handles of a kind, which another call must destroy. */
static const struct maker {
    enum sim_kind mk_kind;
    const char *mk_call, *mk_end;
} makers[] = {
    {SIM_KIND_CONTEXT, "aclrtCreateContext", "aclrtDestroyContext"},
    {SIM_KIND_STREAM, "aclrtCreateStream", "aclrtDestroyStream"},
    {SIM_KIND_EVENT, "aclrtCreateEvent", "aclrtDestroyEvent"},
    {SIM_KIND_EVENT, "aclrtIpcOpenEventHandle", "aclrtDestroyEvent"},
    {SIM_KIND_DATA_BUFFER, "aclCreateDataBuffer", "aclDestroyDataBuffer"},
    {SIM_KIND_TENSOR_DESC, "aclCreateTensorDesc", "aclDestroyTensorDesc"},
    {SIM_KIND_TENSOR_DESC, "aclmdlCreateAndGetOpDesc", "aclDestroyTensorDesc"},
    {SIM_KIND_TENSOR, "aclCreateTensor", "aclDestroyTensor"},
    {SIM_KIND_SCALAR, "aclCreateScalar", "aclDestroyScalar"},
    {SIM_KIND_ARRAY, "aclCreateIntArray", "aclDestroyIntArray"},
    {SIM_KIND_ARRAY, "aclCreateFloatArray", "aclDestroyFloatArray"},
    {SIM_KIND_ARRAY, "aclCreateBoolArray", "aclDestroyBoolArray"},
    {SIM_KIND_LIST, "aclCreateTensorList", "aclDestroyTensorList"},
    {SIM_KIND_LIST, "aclCreateScalarList", "aclDestroyScalarList"},
    {SIM_KIND_EXECUTOR, "aclnn", "the second phase of the operator, or aclDestroyAclOpExecutor if it is repeatable"},
    {SIM_KIND_INSTANCE, "aclmdlRI", "aclmdlRIDestroy"},
    {SIM_KIND_DATASET, "aclmdlCreateDataset", "aclmdlDestroyDataset"},
    {SIM_KIND_MODEL_DESC, "aclmdlCreateDesc", "aclmdlDestroyDesc"},
    {SIM_KIND_LOAD_CONFIG, "aclmdlCreateConfigHandle", "aclmdlDestroyConfigHandle"},
    {SIM_KIND_RUN_CONFIG, "aclmdlCreateExecConfigHandle", "aclmdlDestroyExecConfigHandle"},
    {SIM_KIND_BUNDLE_QUERY, "aclmdlBundleCreateQueryInfo", "aclmdlBundleDestroyQueryInfo"},
    {SIM_KIND_AIPP, "aclmdlCreateAIPP", "aclmdlDestroyAIPP"},
    {SIM_KIND_PROF_CONFIG, "aclprofCreateConfig", "aclprofDestroyConfig"},
    {SIM_KIND_SUBSCRIPTION, "aclprofCreateSubscribeConfig", "aclprofDestroySubscribeConfig"},
    {SIM_KIND_STAMP, "aclprofCreateStamp", "aclprofDestroyStamp"},
    {SIM_KIND_STEP_INFO, "aclprofCreateStepInfo", "aclprofDestroyStepInfo"},
    {SIM_KIND_GRAPH_DUMP, "aclCreateGraphDumpOpt", "aclDestroyGraphDumpOpt"},
    {SIM_KIND_OP_ATTR, "aclopCreateAttr", "aclopDestroyAttr"},
    {SIM_KIND_OP_HANDLE, "aclopCreateHandle", "aclopDestroyHandle"},
    {SIM_KIND_OP_HANDLE, "aclblasCreateHandle", "aclopDestroyHandle"},
    {SIM_KIND_NOTIFY, "aclrtCreateNotify", "aclrtDestroyNotify"},
    {SIM_KIND_COUNTER, "aclrtCntNotifyCreate", "aclrtCntNotifyDestroy"},
    {SIM_KIND_LABEL, "aclrtCreateLabel", "aclrtDestroyLabel"},
    {SIM_KIND_LABEL_LIST, "aclrtCreateLabelList", "aclrtDestroyLabelList"},
    {SIM_KIND_QUEUE_ATTR, "acltdtCreateQueueAttr", "acltdtDestroyQueueAttr"},
    {SIM_KIND_QUEUE_ROUTE, "acltdtCreateQueueRoute", "acltdtDestroyQueueRoute"},
    {SIM_KIND_QUEUE_ROUTES, "acltdtCreateQueueRouteList", "acltdtDestroyQueueRouteList"},
    {SIM_KIND_QUEUE_QUESTION, "acltdtCreateQueueRouteQueryInfo", "acltdtDestroyQueueRouteQueryInfo"},
    {SIM_KIND_CHANNEL, "acltdtCreateChannel", "acltdtDestroyChannel"},
    {SIM_KIND_CHANNEL_ITEM, "acltdtCreateDataItem", "acltdtDestroyDataItem"},
    {SIM_KIND_CHANNEL_DATASET, "acltdtCreateDataset", "acltdtDestroyDataset"},
    {SIM_KIND_DESCRIPTION, "aclrtCreateBinary", "aclrtDestroyBinary"},
    {SIM_KIND_BINARY, "aclrtBinaryLoad", "aclrtBinaryUnLoad"},
    {SIM_KIND_PHYSICAL, "aclrtMallocPhysical", "aclrtFreePhysical"},
    {SIM_KIND_ALLOCATOR, "aclrtAllocatorCreateDesc", "aclrtAllocatorDestroyDesc"},
    {SIM_KIND_MEMORY_POOL, "aclrtMemPoolCreate", "aclrtMemPoolDestroy"},
};

/* The same for blocks of memory. */
static const struct maker allocators[] = {
    {SIM_KIND_NONE, "aclrtMallocHost", "aclrtFreeHost"},
    {SIM_KIND_NONE, "aclrtMalloc", "aclrtFree"},
    {SIM_KIND_NONE, "aclrtMemAllocManaged", "aclrtFree"},
    {SIM_KIND_NONE, "aclrtMemPoolMallocAsync", "aclrtMemPoolFreeAsync"},
    {SIM_KIND_NONE, "aclrtHostRegister", "aclrtHostUnregister"},
    {SIM_KIND_NONE, "aclrtMapMem", "aclrtUnmapMem"},
    {SIM_KIND_NONE, "aclrtIpcMemImport", "aclrtIpcMemClose"},
};

static const struct maker a_model = {SIM_KINDS, "aclmdlLoad", "aclmdlUnload"};

static const struct maker *maker_of(const struct maker *list, size_t count, enum sim_kind kind, const char *call)
{
    for (size_t i = 0; call != NULL && i < count; i++)
        if (list[i].mk_kind == kind && strncmp(call, list[i].mk_call, strlen(list[i].mk_call)) == 0)
            return &list[i];
    return NULL;
}

/* ---- records ---- */

struct record {
    uint64_t re_handle; /* 0: none, or reported */
    const void *re_site;
    const char *re_call; /* of the function; constant */
    const struct maker *re_maker;
    uint32_t re_thread;
};

static struct sim_lock lock;
static struct {
    const struct sim_table *re_table;
    struct record *re_records; /* by index */
    uint32_t re_room;
} kinds[SIM_KINDS];

/* The record of a slot; NULL without memory. */
static struct record *record_at(const struct sim_table *table, uint32_t index, bool makes)
{
    enum sim_kind kind = table->tb_kind;
    if (index >= kinds[kind].re_room) {
        uint32_t room = kinds[kind].re_room * 2 > index ? kinds[kind].re_room * 2 : index + 64;
        struct record *longer = makes ? realloc(kinds[kind].re_records, room * sizeof *longer) : NULL;
        if (longer == NULL)
            return NULL;
        memset(longer + kinds[kind].re_room, 0, (room - kinds[kind].re_room) * sizeof *longer);
        kinds[kind].re_records = longer;
        kinds[kind].re_room = room;
    }
    kinds[kind].re_table = table;
    return &kinds[kind].re_records[index];
}

static void note_created(const struct sim_table *table, uint64_t handle)
{
    const char *call = sim_thread.th_function;
    const struct maker *maker =
        sim_thread.th_is_library ? NULL : maker_of(makers, sizeof makers / sizeof *makers, table->tb_kind, call);
    const struct record made = {.re_handle = handle, .re_maker = maker, .re_call = call,
                                .re_site = maker != NULL ? sim_site_of_call() : NULL,
                                .re_thread = sim_thread_number()};
    sim_lock(&lock);
    struct record *record = record_at(table, sim_handle_index(handle), maker != NULL);
    if (record != NULL)
        *record = maker != NULL ? made : (struct record){0};
    sim_unlock(&lock);
}

const struct sim_watcher sim_check_leaks = {.wt_create = note_created};

/* ---- collecting ---- */

/* Leaks of one kind that were made at one place. */
struct leak {
    const struct maker *lk_maker;
    const char *lk_call;
    const void *lk_site;
    uint32_t lk_thread;
    size_t lk_count;
    uint64_t lk_bytes;
    char lk_name[64]; /* of the first block of memory */
};

struct leaks {
    struct leak *ls_leaks;
    size_t ls_count, ls_room;
};

static bool is_same_place(const struct leak *one, const struct leak *other)
{
    const char *line = sim_site_line(one->lk_site), *line_of_other = sim_site_line(other->lk_site);
    bool together = line != NULL ? line_of_other != NULL && strcmp(line, line_of_other) == 0
                                 : one->lk_site == other->lk_site;
    return together && one->lk_maker == other->lk_maker;
}

/* Without memory, it is left out. */
static void add(struct leaks *leaks, const struct leak *leak)
{
    for (size_t i = 0; i < leaks->ls_count; i++)
        if (is_same_place(&leaks->ls_leaks[i], leak)) {
            leaks->ls_leaks[i].lk_count += leak->lk_count;
            leaks->ls_leaks[i].lk_bytes += leak->lk_bytes;
            return;
        }
    if (leaks->ls_count == leaks->ls_room) {
        size_t room = 2 * leaks->ls_room + 16;
        struct leak *longer = realloc(leaks->ls_leaks, room * sizeof *longer);
        if (longer == NULL)
            return;
        leaks->ls_leaks = longer;
        leaks->ls_room = room;
    }
    leaks->ls_leaks[leaks->ls_count++] = *leak;
}

/* Streams and contexts end with their device, and other objects do not. */
static bool is_of_device(enum sim_kind kind, const void *slot, int32_t device)
{
    const struct sim_context *context = NULL;
    if (kind == SIM_KIND_CONTEXT)
        context = slot;
    else if (kind == SIM_KIND_STREAM)
        context = atomic_load(&((const struct sim_stream *)slot)->st_context);
    return context != NULL && context->cx_device != NULL && context->cx_device->dv_id == device;
}

/* A call that finds no device opens the default one, and with it a context and a stream of the library. */
static bool is_of_library(enum sim_kind kind, const void *slot)
{
    return (kind == SIM_KIND_CONTEXT && ((const struct sim_context *)slot)->cx_primary) ||
           (kind == SIM_KIND_STREAM && sim_stream_kind(slot) != SIM_STREAM_USER);
}

/* Takes the records of live handles out: of one device, or (negative) all. */
static void collect_handles(struct leaks *leaks, int32_t device)
{
    sim_lock(&lock);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        for (uint32_t i = 1; i < kinds[kind].re_room; i++) {
            struct record *record = &kinds[kind].re_records[i];
            const struct sim_slot *slot = sim_table_at(kinds[kind].re_table, i);
            if (record->re_handle == 0 || kinds[kind].re_table->tb_base == NULL ||
                atomic_load_explicit(&slot->sl_handle, memory_order_acquire) != record->re_handle ||
                is_of_library(kind, slot) || (device >= 0 && !is_of_device(kind, slot, device)))
                continue;
            add(leaks, &(struct leak){.lk_maker = record->re_maker, .lk_call = record->re_call,
                                      .lk_site = record->re_site, .lk_thread = record->re_thread, .lk_count = 1});
            record->re_handle = 0;
        }
    sim_unlock(&lock);
}

static bool is_alive(const struct sim_block *block)
{
    struct sim_place place;
    const void *start = (const void *)(uintptr_t)block->bk_start;
    if (block->bk_record != NULL)
        return sim_block_birth(atomic_load_explicit(block->bk_record, memory_order_acquire)) == block->bk_birth;
    sim_memory_locate(start, &place);
    if (sim_memory_is_alive(&place) && place.pl_block.bk_birth == block->bk_birth)
        return true;
    return sim_memory_find_mapped(start, &place.pl_block) && place.pl_block.bk_birth == block->bk_birth;
}

/* Managed memory belongs to all devices, and lives on when one of them is reset. */
static bool ends_with(const struct sim_block *block, int32_t device)
{
    struct sim_place place;
    sim_memory_locate((const void *)(uintptr_t)block->bk_start, &place);
    return block->bk_device == device && place.pl_class != SIM_MEMORY_MANAGED;
}

static void collect_memory(struct leaks *leaks, int32_t device)
{
    size_t count;
    struct sim_check_block *blocks = sim_check_block_list(&count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_check_block *block = &blocks[i];
        const struct maker *maker =
            maker_of(allocators, sizeof allocators / sizeof *allocators, SIM_KIND_NONE, block->cb_call);
        if (maker == NULL || block->cb_told || (device >= 0 && !ends_with(&block->cb_block, device)) ||
            !is_alive(&block->cb_block))
            continue;
        struct leak leak = {.lk_maker = maker, .lk_call = block->cb_call, .lk_site = block->cb_made,
                            .lk_thread = block->cb_made_by, .lk_count = 1, .lk_bytes = block->cb_block.bk_requested};
        memcpy(leak.lk_name, block->cb_name, sizeof leak.lk_name);
        add(leaks, &leak);
        sim_check_block_told(block->cb_block.bk_birth);
    }
    free(blocks);
}

static void see_model(const struct sim_model *model, void *context)
{
    if (model->mo_site != NULL && model->mo_bundle == 0)
        add(context, &(struct leak){.lk_maker = &a_model, .lk_call = "aclmdlLoad", .lk_site = model->mo_site,
                                    .lk_count = 1});
}

/* ---- reporting ---- */

/* "stream" or "37 streams", "set of attributes" or "2 sets of attributes". */
static void print_count(const struct leak *leak, char *text, size_t size)
{
    bool many = leak->lk_count != 1;
    if (leak->lk_maker->mk_kind == SIM_KIND_NONE) {
        snprintf(text, size, "%zu block%s of memory (%" PRIu64 " bytes)", leak->lk_count, many ? "s" : "",
                 leak->lk_bytes);
        return;
    }
    const char *name = leak->lk_maker == &a_model ? "model" : sim_handle_kind_name(leak->lk_maker->mk_kind);
    const char *rest = strstr(name, " of ");
    int head = (int)(rest != NULL ? (size_t)(rest - name) : strlen(name));
    bool ends_in_y = many && name[head - 1] == 'y';
    snprintf(text, size, "%zu %.*s%s%s", leak->lk_count, ends_in_y ? head - 1 : head, name,
             ends_in_y ? "ies" : many ? "s" : "", rest != NULL ? rest : "");
}

static void report(const struct leaks *leaks, const char *when)
{
    struct sim_finding finding;
    char count[128], advice[160];
    for (size_t i = 0; i < leaks->ls_count; i++) {
        const struct leak *leak = &leaks->ls_leaks[i];
        bool is_memory = leak->lk_maker->mk_kind == SIM_KIND_NONE, many = leak->lk_count != 1;
        print_count(leak, count, sizeof count);
        snprintf(advice, sizeof advice, "End %s with %s.", many ? "them" : "it", leak->lk_maker->mk_end);
        sim_check_begin(&finding, SIM_CHECK_LEAK, is_memory ? "leaked-memory" : "leaked-object", advice,
                        "%s made here %s never %s before %s", count, many ? "were" : "was",
                        is_memory ? "freed" : leak->lk_maker == &a_model ? "unloaded" : "destroyed", when);
        finding.fi_key = (uintptr_t)leak->lk_maker;
        bool named = leak->lk_name[0] != '\0';
        sim_check_note(&finding, "made", leak->lk_site, leak->lk_thread, "by %s%s%s%s%s", leak->lk_call,
                       named ? ", \"" : "", leak->lk_name, named ? "\"" : "", many ? ", the first time" : "");
        sim_check_report(&finding);
    }
    free(leaks->ls_leaks);
}

void sim_check_leak_device(int32_t device)
{
    struct leaks leaks = {0};
    char when[48];
    if (!sim_watcher_is_on(&sim_check_leaks))
        return;
    collect_handles(&leaks, device);
    collect_memory(&leaks, device);
    snprintf(when, sizeof when, "device %" PRId32 " was reset", device);
    report(&leaks, when);
}

static void report_all(const char *when)
{
    struct leaks leaks = {0};
    if (!sim_watcher_is_on(&sim_check_leaks))
        return;
    collect_handles(&leaks, -1);
    collect_memory(&leaks, -1);
    sim_model_each(see_model, &leaks);
    report(&leaks, when);
}

void sim_check_leak_finalize(void)
{
    report_all("aclFinalize");
}

/* Runs after every exit handler of the program and of an interpreter, which may still free something. */
__attribute__((destructor)) static void at_exit(void)
{
    report_all("the process ended");
}

/* ---- life cycle ---- */

void sim_check_leak_reset(void)
{
    sim_lock(&lock);
    for (int kind = 0; kind < SIM_KINDS; kind++)
        free(kinds[kind].re_records);
    memset(kinds, 0, sizeof kinds);
    sim_unlock(&lock);
}

void sim_check_leak_after_fork(void)
{
    sim_lock_renew(&lock);
    memset(kinds, 0, sizeof kinds);
}
