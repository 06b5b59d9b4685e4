/* Tensor descriptions, under the vendor's file name. */
#ifndef ACL_INCLUDE_ACL_BASE_MDL_H
#define ACL_INCLUDE_ACL_BASE_MDL_H

#include "acl_base_rt.h"

#endif
