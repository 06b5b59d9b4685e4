/* Single operators that read or clear the overflow status. */
#ifndef SIM_OP_STATUS_H
#define SIM_OP_STATUS_H

#include "op.h"

/* Whether the request's type is one of them; the next two functions are for such requests only. */
bool sim_op_status_is(const struct sim_op_request *request);
/* Checks the tensors. Returns 100021 or 100022 for another number of them, and 100024 for their types and sizes. */
aclError sim_op_status_check(const struct sim_op_request *request);
/* Queues a checked request. Returns 107000, or a code of the runtime. */
aclError sim_op_status_submit(const struct sim_op_request *request, struct sim_target target, void *site);

#endif
