/* Groups of rows, one after another, that a list of their ends or of their sizes describes. */
#ifndef OPS_GROUPS_H
#define OPS_GROUPS_H

#include "operator/row.h"

/* The rows of a group, from gr_start on to before gr_end. */
struct sim_groups {
    const char *gr_name;      /* of the list */
    const double *gr_numbers; /* its elements */
    bool gr_counts;           /* they are sizes */
    int64_t gr_rows;          /* of all groups, at most */
    int64_t gr_start, gr_end;
};

/* Goes on to group `number`, which follows the one before; first of all, gr_end is 0. Returns 507015 if it does not fit
 * into the rows. */
aclError sim_groups_step(struct sim_groups *groups, int64_t number);

/* Checks the argument that says what the list holds: 0, ends, or 1, sizes. */
aclnnStatus sim_groups_require_kind(const aclsimArgument *kind);

/* Rows of a matrix. */
aclsimTensor sim_groups_rows(const aclsimTensor *matrix, int64_t start, int64_t end);

#endif
