/* Compilation of single operators, under the vendor's file name. */
#ifndef ACL_INCLUDE_ACL_OP_COMPILER_H
#define ACL_INCLUDE_ACL_OP_COMPILER_H

#include "acl_op.h"

#endif
