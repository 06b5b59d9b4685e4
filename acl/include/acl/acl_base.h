/* The basic declarations that all other headers use. */
#ifndef ACL_INCLUDE_ACL_BASE_H
#define ACL_INCLUDE_ACL_BASE_H

#include "acl_base_rt.h"
#include "acl_base_mdl.h"

#endif
