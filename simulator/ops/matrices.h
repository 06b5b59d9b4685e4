/* Kernels that work on each matrix of a batch: copies of the matrices in rows of doubles, and a walk over the batches.
 */
#ifndef OPS_MATRICES_H
#define OPS_MATRICES_H

#include "element.h"

#include <complex.h>

#define SIM_MATRICES_VIEWS 5 /* the most tensors of a kernel */

typedef double _Complex sim_pair;

/* One call of a kernel. */
struct sim_matrices {
    const aclsimArgument *ma_given;
    enum sim_class ma_class; /* SIM_CLASS_DOUBLE or SIM_CLASS_COMPLEX_DOUBLE */
    aclsimTensor ma_views[SIM_MATRICES_VIEWS]; /* of the current batch: a matrix, a vector or an element each */
    double *ma_values; /* memory for the copies, the same for all batches */
    void (*ma_run)(struct sim_matrices *job); /* computes the current batch */
};

/* The job of a call, whose first argument decides whether it computes with complex numbers. */
struct sim_matrices sim_matrices_of(const aclsimCall *call, void (*run)(struct sim_matrices *job));

/* Runs a job on all batches. The tensors have their last `ranks` dimensions in each batch; the other dimensions are
 * broadcast to those of the first tensor. The job has memory for rows * columns elements. */
aclError sim_matrices_run(struct sim_matrices *job, const aclsimTensor *const *tensors, const uint32_t *ranks,
                          uint32_t count, int64_t rows, int64_t columns);

static inline bool sim_matrices_complex(const struct sim_matrices *job)
{
    return job->ma_class == SIM_CLASS_COMPLEX_DOUBLE;
}

/* How many doubles an element has. */
static inline int64_t sim_matrices_width(const struct sim_matrices *job)
{
    return sim_matrices_complex(job) ? 2 : 1;
}

/* Copy between a matrix and contiguous rows. */
void sim_matrices_load(const struct sim_matrices *job, const aclsimTensor *matrix, double *values);
void sim_matrices_store(const struct sim_matrices *job, const aclsimTensor *matrix, const double *values);

/* The same matrix with rows and columns exchanged. */
aclsimTensor sim_matrices_transposed(const aclsimTensor *matrix);

/* A vector as a matrix of one row. */
aclsimTensor sim_matrices_row(const aclsimTensor *vector);

/* Makes the values the first rows and columns of an identity matrix. */
void sim_matrices_identity(const struct sim_matrices *job, double *values, int64_t rows, int64_t columns);

/* Exchanges two rows. */
void sim_matrices_swap(void *one, void *other, size_t bytes);

/* ---- checks of arguments; one that fails returns 161002 ---- */

/* The last two dimensions are equal. */
aclnnStatus sim_matrices_require_square(const aclsimArgument *argument);
/* The tensor has elements. */
aclnnStatus sim_matrices_require_elements(const aclsimArgument *argument);
/* The first dimensions of two tensors, all except two, can be broadcast together. Writes the result to `dims`. */
aclnnStatus sim_matrices_require_batches(const aclsimArgument *one, const aclsimArgument *other, int64_t *dims);

#endif
