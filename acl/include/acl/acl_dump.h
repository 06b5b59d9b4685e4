/* Data dump. */
#ifndef ACL_INCLUDE_ACL_DUMP_H
#define ACL_INCLUDE_ACL_DUMP_H

#include "acl_base_rt.h"

/* acldumpChunk ends in a flexible array, which ISO C++ lacks. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
extern "C" {
#endif

#include "abi/dump.h"

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
