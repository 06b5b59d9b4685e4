/* Ranks of one communicator in this process: a device, a stream, an input and an output each. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include "check.h"

#include <acl/acl_sim.h>
#include <hccl/hccl.h>

enum { MOST = 8, ROOM = 4099 * MOST };

static uint32_t ranks;
static const char *time_scale = "1";
static HcclComm comms[MOST];
static aclrtContext contexts[MOST];
static aclrtStream streams[MOST];
static float *from[MOST], *to[MOST];

static void open_ranks(uint32_t count)
{
    int32_t devices[MOST];
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("devices", "8"), 0);
    CHECK_CODE(aclsimConfigure("hccl_time_scale", time_scale), 0);
    ranks = count;
    for (uint32_t rank = 0; rank < count; rank++) {
        devices[rank] = (int32_t)rank;
        CHECK_CODE(aclrtSetDevice((int32_t)rank), 0);
        CHECK_CODE(aclrtGetCurrentContext(&contexts[rank]), 0);
        CHECK_CODE(aclrtCreateStream(&streams[rank]), 0);
        CHECK_CODE(aclrtMalloc((void **)&from[rank], ROOM * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK_CODE(aclrtMalloc((void **)&to[rank], ROOM * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), 0);
        CHECK_CODE(aclrtMemset(from[rank], ROOM * sizeof(float), 0, ROOM * sizeof(float)), 0);
        CHECK_CODE(aclrtMemset(to[rank], ROOM * sizeof(float), 0, ROOM * sizeof(float)), 0);
    }
    CHECK_CODE(HcclCommInitAll(count, devices, comms), 0);
}

static void use(uint32_t rank)
{
    CHECK_CODE(aclrtSetCurrentContext(contexts[rank]), 0);
}

static void synchronize(uint32_t rank, aclError code)
{
    use(rank);
    CHECK_CODE(aclrtSynchronizeStream(streams[rank]), code);
}

/* Lets this thread run what is queued on a stream, up to an operator that waits for other ranks. */
static void run_until_it_waits(aclrtStream stream)
{
    CHECK_CODE(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
}

#define EACH(call)                                                                                                     \
    for (uint32_t rank = 0; rank < ranks; rank++) {                                                                    \
        use(rank);                                                                                                     \
        CHECK_CODE(call, 0);                                                                                           \
    }

#endif
