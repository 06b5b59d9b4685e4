/* Variances and standard deviations: Std, Var, VarCorrection, VarMean and StdMeanCorrection. The first pass finds the
 * mean, the second adds the squares of the distances from it. The sum is divided by the number of elements minus the
 * correction, or by 0 if that is negative, so that the variance of too few elements is NaN or infinite. */
#include "reduce.h"

#include <math.h>

static double mean(double sum, double elements)
{
    return sum / elements;
}

SIM_REDUCE_MAP(square_distances, (x - centre) * (x - centre))

static double variance(double squares, double centre, double elements, double correction)
{
    (void)centre;
    return squares / fmax(0, elements - correction);
}

static double deviation(double squares, double centre, double elements, double correction)
{
    return sqrt(variance(squares, centre, elements, correction));
}

/* All schemas begin with self, dim, correction and keepdim. For Var the correction is a bool. */
#define SPREAD(end)                                                                                                    \
    SIM_FOLD_SUM, SIM_TYPES_SINGLE, .re_first = SIM_FOLD_SUM, .re_centre = mean, .re_map = square_distances,           \
                                    .re_end = (end), .re_dims = 1, .re_option = 2, .re_keeps = 3, .re_out = 4
#define ITS_MEAN                                                                                                       \
    {                                                                                                                  \
        SIM_FOLD_SUM, SIM_TYPES_SINGLE, .re_averages = true, .re_dims = 1, .re_keeps = 3, .re_out = 5                  \
    }

SIM_REDUCTION(Std, SPREAD(deviation))
SIM_REDUCTION(Var, SPREAD(variance))
SIM_REDUCTION(VarCorrection, SPREAD(variance))
SIM_REDUCTION_TWO(VarMean, {SPREAD(variance)}, ITS_MEAN)
SIM_REDUCTION_TWO(StdMeanCorrection, {SPREAD(deviation)}, ITS_MEAN)
