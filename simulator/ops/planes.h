/* Images as consecutive doubles, for operators that compute each element from others of the same channel: pools,
 * resizing and sampling. The last one to three dimensions of a tensor are those of an image, those before count the
 * images. Doubles hold each value of the types that these operators take, and indices below 2 to the power of 53. */
#ifndef OPS_PLANES_H
#define OPS_PLANES_H

#include "require.h"

#include <math.h>

#define SIM_DIRECTIONS 3 /* depth, height and width */

struct sim_planes {
    double *pl_values;
    const aclsimTensor *pl_tensor;
    int64_t pl_count;                /* images */
    int64_t pl_dims[SIM_DIRECTIONS]; /* 1 for a direction that the image lacks */
    int64_t pl_size;                 /* elements of an image */
    bool pl_unwanted;                /* set by the function: this output is not written */
};

/* Computes the outputs, which are 0 at first. The tensors of the call are in the order of the schema. */
typedef aclError sim_planes_func(const aclsimCall *call, struct sim_planes *planes);

/* Loads the inputs of a call, calls the function, and stores the outputs. `directions` is the number of dimensions of
 * an image. Returns 207001 if there is no memory, or the code of the function. */
aclError sim_planes_run(const aclsimCall *call, uint32_t directions, sim_planes_func *compute);

#define SIM_PLANES_CUBIC (-0.75) /* the usual `slope` */
/* The weight in cubic interpolation of an element that is at most 2 elements away; `slope` is that of the weight 1
 * element away. */
static inline double sim_planes_cubic(double away, double slope)
{
    const double x = fabs(away), a = slope;
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* No dimension is 0; the first `exempt` ones may be. */
aclnnStatus sim_planes_check_filled(const aclsimArgument *argument, uint32_t exempt);

/* Ends the task because an index is not that of an element of an image. */
aclError sim_planes_fail_index(const char *name, double index, int64_t size);

#endif
