/* What losses share: the reduction of one value per element to one value for all. */
#ifndef OPS_LOSS_H
#define OPS_LOSS_H

#include "element.h"

enum { SIM_LOSS_NONE, SIM_LOSS_MEAN, SIM_LOSS_SUM, SIM_LOSS_BATCH_MEAN, SIM_LOSS_REDUCTIONS };

/* The number is one of the first `count` reductions. */
aclnnStatus sim_loss_check_reduction(const aclsimArgument *reduction, int count);

/* Stores one element. */
void sim_loss_store(void *to, aclDataType type, double value);

#endif
