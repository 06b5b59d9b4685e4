/* Logarithms of sums: LogSumExp and ReduceLogSum. LogSumExp subtracts the greatest element before the exponentials are
 * added, so that they do not overflow. An infinite one is not subtracted, because the difference would be NaN. */
#include "reduce.h"

#include <math.h>

static double shift(double greatest, double elements)
{
    (void)elements;
    return isinf(greatest) ? 0 : greatest;
}

SIM_REDUCE_MAP(exponential, exp(x - centre))

static double logarithm(double sum, double centre, double elements, double option)
{
    (void)elements;
    (void)option;
    return log(sum) + centre;
}

SIM_REDUCTION(LogSumExp, SIM_FOLD_SUM, SIM_TYPES_BOOL | SIM_TYPES_INTEGER | SIM_TYPES_SINGLE, .re_casts = true,
              .re_fractional = true, .re_first = SIM_FOLD_GREATEST, .re_centre = shift, .re_map = exponential,
              .re_end = logarithm, .re_dims = 1, .re_keeps = 2, .re_out = 3)
SIM_REDUCTION(ReduceLogSum, SIM_FOLD_SUM, SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_FLOAT), .re_end = logarithm,
              .re_dims = 1, .re_keeps = 2, .re_noop = 3, .re_out = 4)
