/* Queries of the platform, under the vendor's file name. */
#ifndef ACL_INCLUDE_ACL_PLATFORM_H
#define ACL_INCLUDE_ACL_PLATFORM_H

#include "acl_base_rt.h"

#endif
