/* Types of teams. */
#ifndef ACL_INCLUDE_HCOMM_HCOMM_TEAM_DEFS_H
#define ACL_INCLUDE_HCOMM_HCOMM_TEAM_DEFS_H

#include "hcomm/hcomm_res_defs.h"

#endif
