/* The data types that kernels take, for lists of operators. */
#ifndef OPS_TYPES_H
#define OPS_TYPES_H

#include "operator/row.h"

/* Finds the types of a built-in kernel's first operand and first result: those that its plan accepts (ask.h), or, if
 * that cannot be found out, those that the kernel states. Both sets are 0 if neither is known. */
void sim_types_of(struct sim_row *row, uint64_t *in, uint64_t *out);

#endif
