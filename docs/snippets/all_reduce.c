#include <acl/acl.h>
#include <hccl/hccl.h>
#include <stdio.h>

enum { RANKS = 4, COUNT = 3 };

int main(void)
{
    int32_t devices[RANKS] = {0, 1, 2, 3};
    HcclComm comms[RANKS];
    aclrtStream streams[RANKS];
    float *buffers[RANKS], result[COUNT];
    aclInit(NULL);
    if (HcclCommInitAll(RANKS, devices, comms) != HCCL_SUCCESS) {
        puts(aclGetRecentErrMsg());
        return 1;
    }
    for (int rank = 0; rank < RANKS; rank++) {
        const float values[COUNT] = {rank, 10 * rank, 1};
        aclrtSetDevice(devices[rank]);
        aclrtCreateStream(&streams[rank]);
        aclrtMalloc((void **)&buffers[rank], sizeof values, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemcpy(buffers[rank], sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE);
        HcclAllReduce(buffers[rank], buffers[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank],
                      streams[rank]);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        aclrtSetDevice(devices[rank]);
        if (aclrtSynchronizeStream(streams[rank]) != ACL_SUCCESS)
            puts(aclGetRecentErrMsg());
        aclrtMemcpy(result, sizeof result, buffers[rank], sizeof result, ACL_MEMCPY_DEVICE_TO_HOST);
        printf("rank %d: %g %g %g\n", rank, result[0], result[1], result[2]);
        HcclCommDestroy(comms[rank]);
        aclrtResetDevice(devices[rank]);
    }
    aclFinalize();
}
