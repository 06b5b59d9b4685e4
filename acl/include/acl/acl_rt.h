/* The runtime. */
#ifndef ACL_INCLUDE_ACL_RT_H
#define ACL_INCLUDE_ACL_RT_H

#include "acl_base_rt.h"
#include "acl_dump.h"
#include "acl_prof.h"
#include "acl_rt_allocator.h"
#include "acl_tdt_queue.h"

/* C99 does not have unnamed unions. */
#if !defined __cplusplus && __STDC_VERSION__ < 201112L
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif

#ifdef __cplusplus
struct dim3 { /* the same layout as in abi/dim.h */
    uint32_t x, y, z;
    dim3(uint32_t vx = 1, uint32_t vy = 1, uint32_t vz = 1) : x(vx), y(vy), z(vz) {}
};
#else
#include "abi/dim.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/context.h"
#include "abi/stream.h"
#include "abi/event.h"
#include "abi/notify.h"
#include "abi/label.h"
#include "abi/memory.h"
#include "abi/vmm.h"
#include "abi/managed.h"
#include "abi/peer.h"
#include "abi/ipc.h"
#include "abi/callback.h"
#include "abi/task.h"
#include "abi/kernel.h"
#include "abi/capture.h"
#include "abi/limits.h"
#include "abi/saturation.h"
#include "abi/group.h"
#include "abi/recovery.h"
#include "abi/snapshot.h"

#ifdef __cplusplus
}
#endif

#if !defined __cplusplus && __STDC_VERSION__ < 201112L
#pragma GCC diagnostic pop
#endif

#endif
