/* Asks a kernel about arguments, without a call. */
#ifndef SIM_ROW_ASK_H
#define SIM_ROW_ASK_H

#include "row.h"

/* Returns what the plan of the schema's built-in kernel returns for these arguments, 0 if it has no plan. */
aclnnStatus sim_row_ask(struct sim_row *row, const aclsimArgument *arguments);

#endif
