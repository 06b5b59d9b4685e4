/* Error codes of the runtime, under the vendor's file name. */
#ifndef ACL_INCLUDE_ERROR_CODES_RT_ERROR_CODES_H
#define ACL_INCLUDE_ERROR_CODES_RT_ERROR_CODES_H

#include "acl/acl_base_rt.h"

#endif
