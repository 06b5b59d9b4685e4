/* One element of SwiGlu in its plain and clipped forms: one part of a row, after an activation, is multiplied by the
 * other. The parts are halves, or the elements with even and with odd indices. */
#ifndef OPS_SWIGLU_H
#define OPS_SWIGLU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct sim_swiglu {
    bool sw_left;        /* the first part is the active one */
    bool sw_interleaved; /* the parts have the even and the odd indices */
    bool sw_clipped;     /* otherwise the numbers below are not used */
    double sw_limit, sw_alpha, sw_bias;
};

/* Where the two operands of element `k` of `half` ones are in a row. */
static inline void sim_swiglu_places(const struct sim_swiglu *swiglu, size_t k, size_t half, size_t *active,
                                     size_t *passive)
{
    const size_t first = swiglu->sw_interleaved ? 2 * k : k, second = swiglu->sw_interleaved ? first + 1 : k + half;
    *active = swiglu->sw_left ? first : second;
    *passive = swiglu->sw_left ? second : first;
}

/* A NaN stays one when it is clipped. */
static inline double sim_swiglu_value(const struct sim_swiglu *swiglu, double active, double passive)
{
    const double limit = swiglu->sw_limit;
    if (!swiglu->sw_clipped)
        return active / (1 + exp(-active)) * passive;
    active = active > limit ? limit : active;
    passive = passive > limit ? limit : passive < -limit ? -limit : passive;
    return active / (1 + exp(-swiglu->sw_alpha * active)) * (passive + swiglu->sw_bias);
}

#endif
