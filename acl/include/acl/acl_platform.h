/* Calls on the platform, under the vendor's name for them. */
#ifndef ACL_INCLUDE_ACL_PLATFORM_H
#define ACL_INCLUDE_ACL_PLATFORM_H

#include "acl_base_rt.h"

#endif
