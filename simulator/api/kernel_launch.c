/* Entry points of kernels: launches. */
#include "kernel/kernel.h"

#include "base/config.h"

static const dim3 one = {1, 1, 1};

static dim3 line(uint32_t count)
{
    return (dim3){count, 1, 1};
}

static aclError launch_device_args(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                                   size_t argsSize, const aclrtLaunchKernelCfg *cfg, aclrtStream stream, void *site)
{
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(argsData);
    SIM_ARGUMENT(argsSize != 0, ACL_ERROR_INVALID_PARAM, "argsSize is 0, expected the size of argsData in bytes");
    SIM_CHECK(argsSize <= SIM_ARGS_BYTES, ACL_ERROR_RT_PARAM_INVALID, "argsSize is %zu, expected at most %u", argsSize,
              SIM_ARGS_BYTES);
    struct sim_kernel_order order = {.ko_function = funcHandle, .ko_grid = line(numBlocks), .ko_threads = one,
                                     .ko_config = cfg, .ko_device = argsData, .ko_device_size = argsSize};
    return sim_kernel_launch(&order, stream, site);
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
                           aclrtStream stream)
{
    SIM_ENTER();
    return launch_device_args(funcHandle, numBlocks, argsData, argsSize, NULL, stream, SIM_SITE());
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
                             aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
    SIM_ENTER();
    return launch_device_args(funcHandle, numBlocks, argsData, argsSize, cfg, stream, SIM_SITE());
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve)
{
    SIM_ENTER();
    SIM_NOT_NULL(funcHandle);
    SIM_NOT_NULL(argsHandle);
    SIM_ARGUMENT(reserve == NULL, ACL_ERROR_INVALID_PARAM, "reserve is %p, expected NULL: it is reserved", reserve);
    struct sim_kernel_order order = {.ko_function = funcHandle, .ko_grid = line(numBlocks), .ko_threads = one,
                                     .ko_config = cfg, .ko_list = argsHandle};
    return sim_kernel_launch(&order, stream, SIM_SITE());
}

/* Reads arguments that the caller passes in host memory. */
static aclError read_host_args(struct sim_kernel_order *order, const void *hostArgs, size_t argsSize,
                               const aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)
{
    SIM_NOT_NULL(hostArgs);
    SIM_ARGUMENT(argsSize != 0, ACL_ERROR_INVALID_PARAM, "argsSize is 0, expected the size of hostArgs in bytes");
    SIM_ARGUMENT(placeHolderArray != NULL || placeHolderNum == 0, ACL_ERROR_INVALID_PARAM,
                 "placeHolderArray is NULL with placeHolderNum %zu, expected that many placeholders", placeHolderNum);
    order->ko_host = (struct sim_host_args){hostArgs, argsSize, placeHolderArray, placeHolderNum};
    return ACL_SUCCESS;
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum)
{
    SIM_ENTER();
    struct sim_kernel_order order = {.ko_function = funcHandle, .ko_grid = line(numBlocks), .ko_threads = one,
                                     .ko_config = cfg};
    SIM_NOT_NULL(funcHandle);
    SIM_TRY(read_host_args(&order, hostArgs, argsSize, placeHolderArray, placeHolderNum));
    return sim_kernel_launch(&order, stream, SIM_SITE());
}

aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                        void **args)
{
    SIM_ENTER();
    SIM_NOT_NULL(func);
    SIM_NOT_NULL(args);
    struct sim_kernel_order order = {.ko_function = func, .ko_by_symbol = true, .ko_grid = line(numBlocks),
                                     .ko_threads = one, .ko_config = cfg, .ko_array = args};
    return sim_kernel_launch(&order, stream, SIM_SITE());
}

/* ---- SIMT ---- */

static aclError check_simt(size_t dynUbufSize)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile == SIM_P950, "%s has no SIMT kernels, expected a chip of profile P950", soc->so_name);
    SIM_CHECK(dynUbufSize <= soc->so_ub, ACL_ERROR_RT_PARAM_INVALID,
              "dynUbufSize is %zu, expected at most the %u bytes that a core of %s has", dynUbufSize, soc->so_ub,
              soc->so_name);
    return ACL_SUCCESS;
}

aclError aclrtLaunchSIMTKernelWithArgsArray(void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                            aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args)
{
    SIM_ENTER();
    SIM_NOT_NULL(func);
    SIM_NOT_NULL(args);
    SIM_TRY(check_simt(dynUbufSize));
    struct sim_kernel_order order = {.ko_function = func, .ko_by_symbol = true, .ko_grid = gridDim,
                                     .ko_threads = blockDim, .ko_config = cfg, .ko_array = args};
    return sim_kernel_launch(&order, stream, SIM_SITE());
}

aclError aclrtLaunchSIMTKernelWithHostArgs(void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                           aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs,
                                           size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray,
                                           size_t placeHolderNum)
{
    SIM_ENTER();
    struct sim_kernel_order order = {.ko_function = func, .ko_by_symbol = true, .ko_grid = gridDim,
                                     .ko_threads = blockDim, .ko_config = cfg};
    SIM_NOT_NULL(func);
    SIM_TRY(read_host_args(&order, hostArgs, argsSize, placeHolderArray, placeHolderNum));
    SIM_TRY(check_simt(dynUbufSize));
    return sim_kernel_launch(&order, stream, SIM_SITE());
}
