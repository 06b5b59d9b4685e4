/* Entry points of batched copies. */
#include "address/memory.h"
#include "base/config.h"
#include "memory/memory_copy.h"

static aclError check_arrays(const struct sim_batch *batch, bool *empty)
{
    SIM_ARGUMENT(batch->ba_sizes != NULL, ACL_ERROR_INVALID_PARAM, "sizes is NULL, expected an array of numBatches");
    SIM_ARGUMENT(batch->ba_count != 0, ACL_ERROR_INVALID_PARAM, "numBatches is 0, expected at least 1");
    SIM_CHECK(batch->ba_count <= SIM_BATCH_MOST, ACL_ERROR_RT_PARAM_INVALID, "numBatches is %zu, expected at most %u",
              batch->ba_count, SIM_BATCH_MOST);
    size_t full = 0;
    while (full < batch->ba_count && batch->ba_sizes[full] == 0)
        full++;
    *empty = full == batch->ba_count;
    if (*empty)
        return ACL_SUCCESS;
#define NEEDED(member, name)                                                                                           \
    SIM_ARGUMENT(batch->member != NULL, ACL_ERROR_INVALID_PARAM, name " is NULL, expected an array")
    NEEDED(ba_dsts, "dsts");
    NEEDED(ba_dst_sizes, "destMaxs");
    NEEDED(ba_srcs, "srcs");
    NEEDED(ba_attributes, "attrs");
    NEEDED(ba_starts, "attrsIndexes");
#undef NEEDED
    for (size_t i = 0; i < batch->ba_count; i++)
        SIM_ARGUMENT(batch->ba_sizes[i] <= batch->ba_dst_sizes[i], ACL_ERROR_INVALID_PARAM,
                     "sizes[%zu] is %zu, expected at most destMaxs[%zu], %zu", i, batch->ba_sizes[i], i,
                     batch->ba_dst_sizes[i]);
    bool plausible = batch->ba_attribute_count <= batch->ba_count;
    for (size_t i = 0; plausible && i < batch->ba_attribute_count; i++)
        for (size_t byte = 0; byte < sizeof batch->ba_attributes->rsv; byte++)
            SIM_ARGUMENT(batch->ba_attributes[i].rsv[byte] == 0, ACL_ERROR_INVALID_PARAM,
                         "attrs[%zu].rsv[%zu] is %u, expected 0: it is reserved", i, byte,
                         batch->ba_attributes[i].rsv[byte]);
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile <= SIM_PA2, "%s cannot copy in batches",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

static aclError copy(const struct sim_batch *batch, size_t *failed)
{
    bool empty;
    SIM_TRY(check_arrays(batch, &empty));
    return empty ? ACL_SUCCESS : sim_memory_copy_batch(batch, failed);
}

static aclError copy_async(const struct sim_batch *batch, size_t *failed, enum sim_copy_call call, aclrtStream stream,
                           void *site)
{
    bool empty;
    SIM_TRY(check_arrays(batch, &empty));
    return empty ? ACL_SUCCESS : sim_memory_copy_batch_async(batch, failed, call, stream, site);
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex)
{
    SIM_ENTER();
    const struct sim_batch batch = {dsts, srcs, destMaxs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    SIM_NOT_NULL(failIndex);
    *failIndex = SIZE_MAX;
    return copy(&batch, failIndex);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs)
{
    SIM_ENTER();
    const struct sim_batch batch = {dsts, srcs, destMaxs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    size_t failed;
    return copy(&batch, &failed);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                               aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_batch batch = {dsts, srcs, destMaxs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    SIM_NOT_NULL(failIndex);
    *failIndex = SIZE_MAX;
    return copy_async(&batch, failIndex, SIM_COPY_BATCH, stream, SIM_SITE());
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_batch batch = {dsts, srcs, destMaxs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    size_t failed;
    return copy_async(&batch, &failed, SIM_COPY_BATCH_V2, stream, SIM_SITE());
}
