/* Includes all interfaces except queues of tensors, memory pools, BLAS and operators. */
#ifndef ACL_INCLUDE_ACL_H
#define ACL_INCLUDE_ACL_H

#include "acl_rt.h"
#include "acl_op.h"
#include "acl_mdl.h"

#endif
