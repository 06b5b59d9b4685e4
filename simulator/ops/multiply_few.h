/* Products whose result has few rows, such as a vector times a matrix. Part of multiply.c, which decides. */
#ifndef OPS_MULTIPLY_FEW_H
#define OPS_MULTIPLY_FEW_H

#include "multiply.h"

#define SIM_FEW_ROWS 7 /* with more, packing the right factor takes less time than it saves */

/* Does what sim_multiply_run does, for 1 to SIM_FEW_ROWS rows of floats, doubles or, if `whole`, of integers that are
 * loaded as floats. */
aclError sim_multiply_few_run(const struct sim_multiply *multiply, bool whole);

#endif
