/* The data types that kernels state, for lists of operators. */
#ifndef OPS_TYPES_H
#define OPS_TYPES_H

#include "operator/row.h"

/* Finds the types of a kernel's operands and results. Leaves the sets as they are if the kernel does not state them:
 * then its plan checks the type of each parameter by itself. */
void sim_types_of(const struct sim_kernel *kernel, uint64_t *in, uint64_t *out);

#endif
