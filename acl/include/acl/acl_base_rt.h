/* Types, error codes, and functions on descriptions, devices and the library itself. */
#ifndef ACL_INCLUDE_ACL_BASE_RT_H
#define ACL_INCLUDE_ACL_BASE_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/base.h"
#include "abi/errors.h"
#include "abi/init.h"
#include "abi/error.h"
#include "abi/device.h"
#include "abi/tensordesc.h"

#ifdef __cplusplus
}
#endif

/* Writes to the log, with the source location of the call. */
#define ACL_APP_LOG(level, ...) aclAppLog(level, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)

#endif
