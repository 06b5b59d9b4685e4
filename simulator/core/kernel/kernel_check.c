/* Checks of a launch before anything is allocated for it, and its time limit. This file has no state and no lock. */
#include "address/memory.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "engine/limits.h"
#include "kernel_inner.h"

#define HOLDERS 1024         /* per launch */
#define ATTRIBUTES 64        /* per launch */
#define ATTRIBUTE_IDS (ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING + 1)

static const aclrtLaunchKernelAttrValue *find_attribute(const aclrtLaunchKernelCfg *config, aclrtLaunchKernelAttrId id)
{
    return config != NULL ? sim_kernel_attribute(config->attrs, config->numAttrs, id) : NULL;
}

static aclError check_attribute(const aclrtLaunchKernelAttr *attribute, size_t index)
{
    SIM_CHECK(attribute->id >= ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE && attribute->id < ATTRIBUTE_IDS,
              ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs[%zu].id is %d, expected an aclrtLaunchKernelAttrId (1 to %d)",
              index, (int)attribute->id, ATTRIBUTE_IDS - 1);
    if (attribute->id == ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE)
        SIM_CHECK(attribute->value.schemMode <= 1, ACL_ERROR_RT_PARAM_INVALID,
                  "cfg->attrs[%zu].value.schemMode is %u, expected 0 (normal) or 1 (batch)", index,
                  attribute->value.schemMode);
    if (attribute->id == ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE)
        SIM_CHECK(attribute->value.engineType <= ACL_RT_ENGINE_TYPE_AIV, ACL_ERROR_RT_PARAM_INVALID,
                  "cfg->attrs[%zu].value.engineType is %d, expected 0 (AIC) or 1 (AIV)", index,
                  (int)attribute->value.engineType);
    return ACL_SUCCESS;
}

aclError sim_kernel_check_config(const aclrtLaunchKernelCfg *config)
{
    if (config == NULL)
        return ACL_SUCCESS;
    SIM_ARGUMENT(config->attrs != NULL || config->numAttrs == 0, ACL_ERROR_INVALID_PARAM,
                 "cfg->attrs is NULL with numAttrs %zu, expected that many attributes", config->numAttrs);
    SIM_CHECK(config->numAttrs <= ATTRIBUTES, ACL_ERROR_RT_PARAM_INVALID, "cfg->numAttrs is %zu, expected at most %d",
              config->numAttrs, ATTRIBUTES);
    for (size_t i = 0; i < config->numAttrs; i++)
        SIM_TRY(check_attribute(&config->attrs[i], i));
    SIM_CHECK(find_attribute(config, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) == NULL ||
                  find_attribute(config, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US) == NULL,
              ACL_ERROR_RT_PARAM_INVALID,
              "cfg->attrs has ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT and ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, expected one "
              "of the two");
    return ACL_SUCCESS;
}

uint64_t sim_kernel_limit(const aclrtLaunchKernelCfg *config)
{
    const aclrtLaunchKernelAttrValue *seconds = find_attribute(config, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT);
    const aclrtLaunchKernelAttrValue *precise = find_attribute(config, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US);
    uint64_t microseconds;
    if (seconds != NULL)
        microseconds = seconds->timeout * UINT64_C(1000000);
    else if (precise != NULL)
        microseconds = (uint64_t)precise->timeoutUs.timeoutHigh << 32 | precise->timeoutUs.timeoutLow;
    else
        return sim_limits_launch();
    return microseconds == 0 || microseconds > UINT64_MAX / 1000 ? SIM_FOREVER : microseconds * 1000;
}

static aclError check_host(const struct sim_host_args *host)
{
    SIM_CHECK(host->ha_size <= SIM_ARGS_BYTES, ACL_ERROR_RT_PARAM_INVALID, "argsSize is %zu, expected at most %u",
              host->ha_size, SIM_ARGS_BYTES);
    SIM_CHECK(sim_memory_is_host(host->ha_bytes), ACL_ERROR_RT_PARAM_INVALID,
              "hostArgs is %p, which is device memory, expected host memory", host->ha_bytes);
    SIM_CHECK(host->ha_holder_count <= HOLDERS, ACL_ERROR_RT_PARAM_INVALID,
              "placeHolderNum is %zu, expected at most %d", host->ha_holder_count, HOLDERS);
    for (size_t i = 0; i < host->ha_holder_count; i++) {
        const aclrtPlaceHolderInfo *holder = &host->ha_holders[i];
        SIM_CHECK(holder->addrOffset + UINT64_C(8) <= host->ha_size && holder->dataOffset < host->ha_size,
                  ACL_ERROR_RT_PARAM_INVALID,
                  "placeHolderArray[%zu] has addrOffset %u and dataOffset %u, expected offsets inside the %zu bytes of "
                  "hostArgs",
                  i, holder->addrOffset, holder->dataOffset, host->ha_size);
    }
    return ACL_SUCCESS;
}

static uint64_t volume(dim3 size)
{
    uint64_t product = size.x;
    bool fits = sim_size_multiply(&product, size.y) && sim_size_multiply(&product, size.z);
    return fits ? product : UINT64_MAX;
}

static aclError check_grid(const struct sim_kernel_order *order)
{
    uint64_t blocks = volume(order->ko_grid), threads = volume(order->ko_threads);
    SIM_ARGUMENT(blocks != 0, ACL_ERROR_INVALID_PARAM, "the launch has %u x %u x %u blocks, expected 1 to %d",
                 order->ko_grid.x, order->ko_grid.y, order->ko_grid.z, SIM_BLOCKS_MAX);
    SIM_CHECK(blocks <= SIM_BLOCKS_MAX, ACL_ERROR_RT_PARAM_INVALID,
              "the launch has %u x %u x %u blocks, expected 1 to %d", order->ko_grid.x, order->ko_grid.y,
              order->ko_grid.z, SIM_BLOCKS_MAX);
    SIM_CHECK(threads != 0 && threads <= SIM_THREADS_MAX, ACL_ERROR_RT_PARAM_INVALID,
              "a block has %u x %u x %u threads, expected 1 to %d", order->ko_threads.x, order->ko_threads.y,
              order->ko_threads.z, SIM_THREADS_MAX);
    return ACL_SUCCESS;
}

aclError sim_kernel_check(const struct sim_kernel_order *order)
{
    SIM_TRY(check_grid(order));
    SIM_TRY(sim_kernel_check_config(order->ko_config));
    return order->ko_host.ha_bytes != NULL ? check_host(&order->ko_host) : ACL_SUCCESS;
}
