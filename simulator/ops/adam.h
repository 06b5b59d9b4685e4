/* The optimiser Adam with decoupled weight decay, which several operators share. */
#ifndef OPS_ADAM_H
#define OPS_ADAM_H

#include "slices.h"

struct sim_adam {
    double ad_rate, ad_first, ad_second, ad_decay, ad_epsilon; /* ad_first and ad_second: the two betas */
    double ad_first_power, ad_second_power;                    /* beta ** step */
    bool ad_maximizes;
};

/* Lists of `count` numbers. */
struct sim_adam_state {
    double *as_variable, *as_mean, *as_square, *as_gradient;
    double *as_greatest; /* NULL: the square itself is used */
};

/* All tensors have the type and the shape of the first, which is a float type. */
aclnnStatus sim_adam_require(const aclsimArgument *const *tensors, size_t count);
/* Updates the variable, the moments, and the greatest squares. */
void sim_adam_step(const struct sim_adam *adam, const struct sim_adam_state *state, size_t count);

#endif
