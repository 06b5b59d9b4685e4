/* The data types that a kernel takes, found by asking its plan, for lists of operators. */
#ifndef OPS_ASK_H
#define OPS_ASK_H

#include "operator/row.h"

/* Adds the types for which the plan of the built-in kernel accepts a call: of the first tensor that the operator reads,
 * and of the first one that it only writes; if there is none, and it changes the former, both are the same. Both sets
 * become 0 if they would be incomplete. */
void sim_ask_types(struct sim_row *row, uint64_t *in, uint64_t *out);

#endif
