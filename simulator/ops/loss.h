/* What losses share: reductions of one value per element to one value for all, and targets that name classes. */
#ifndef OPS_LOSS_H
#define OPS_LOSS_H

#include "element.h"

enum { SIM_LOSS_NONE, SIM_LOSS_MEAN, SIM_LOSS_SUM, SIM_LOSS_BATCH_MEAN, SIM_LOSS_REDUCTIONS };

/* The number is one of the first `count` reductions. */
aclnnStatus sim_loss_check_reduction(const aclsimArgument *reduction, int count);

/* The targets of a call. */
struct sim_targets {
    const aclsimArgument *tg_given;
    int64_t tg_classes, tg_ignored; /* the number of classes; the target that names none */
};

/* Reads the class at an address in the targets; -1 if it is ignored. Fails with 507015 if there is no such class. */
aclError sim_loss_find_class(const struct sim_targets *targets, const char *place, int64_t *class);

/* Load and store one element. */
double sim_loss_load(const void *from, aclDataType type);
void sim_loss_store(void *to, aclDataType type, double value);

#endif
