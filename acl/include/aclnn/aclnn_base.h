/* Start and end of operator execution, under the vendor's file name. */
#ifndef ACL_INCLUDE_ACLNN_ACLNN_BASE_H
#define ACL_INCLUDE_ACLNN_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#endif
