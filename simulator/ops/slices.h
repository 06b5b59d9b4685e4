/* Normalization of slices: sets of elements with a common mean and variance. A kernel loads all its tensors as doubles,
 * in the order of their indices, before it stores a result, so that an output may equal an input. Results are rounded
 * once. */
#ifndef OPS_SLICES_H
#define OPS_SLICES_H

#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"

/* The elements of an input as [outer, channels, inner]. A slice has `span` consecutive outer indices, `group`
 * consecutive channels and all inner indices; slices are numbered by outer index, then by channel. A weight has one
 * number per channel. */
struct sim_slices {
    size_t sl_outer, sl_channels, sl_inner;
    size_t sl_span, sl_group;
    size_t sl_count; /* slices */
    size_t sl_size;  /* elements per slice */
};

struct sim_slices sim_slices_of(size_t outer, size_t channels, size_t inner, size_t span, size_t group);
/* One slice per index of dimension 1. */
struct sim_slices sim_slices_of_channels(const aclsimTensor *input);
/* One slice per index of the first `rows` dimensions; each of its elements is a channel. */
struct sim_slices sim_slices_of_rows(const aclsimTensor *input, uint32_t rows);
/* The product of the sizes of dimensions `first` to `last` - 1. */
size_t sim_slices_extent(const aclsimTensor *tensor, uint32_t first, uint32_t last);

/* ---- lists of numbers ---- */

#define SIM_LISTS 24 /* no kernel needs more */

/* The memory of a call. */
struct sim_lists {
    double *ls_numbers[SIM_LISTS];
    size_t ls_count;
};

/* A kernel: the function allocates from `lists`, which sim_lists_run frees. userData is the kind, kn_run is
 * sim_lists_run. */
struct sim_lists_kind {
    aclError (*lk_run)(const aclsimCall *call, struct sim_lists *lists);
};
aclError sim_lists_run(const aclsimCall *call);
/* Frees the lists of a part of a call. */
void sim_lists_free(struct sim_lists *lists);

/* Allocate a list of zeros, or of the elements of a tensor. Return 207001 if there is no memory. */
aclError sim_lists_take(struct sim_lists *lists, size_t count, double **numbers);
aclError sim_lists_load(struct sim_lists *lists, const aclsimArgument *tensor, double **numbers);
/* The same for an optional tensor of `count` elements; if it is absent, all numbers are `missing`. */
aclError sim_lists_load_or(struct sim_lists *lists, const aclsimArgument *tensor, size_t count, double missing,
                           double **numbers);

/* Stores the numbers in the tensor, or nothing if it is absent. */
void sim_lists_store(const aclsimArgument *tensor, const double *numbers);
/* The same for the first elements of the rows of a tensor: those with index 0 in all but the first dimensions. */
void sim_lists_store_rows(const aclsimArgument *tensor, uint32_t rows, const double *numbers);

/* ---- arithmetic ---- */

void sim_slices_means(const struct sim_slices *slices, const double *values, double *means);
/* The means of the squared distances from the means; those are all 0 for a mean square. */
void sim_slices_variances(const struct sim_slices *slices, const double *values, const double *means,
                          double *variances);
/* Replaces variances by the reciprocals of the deviations. */
void sim_slices_invert(double *variances, size_t count, double epsilon);
/* Replaces values by (value - mean) * rstd * weight + bias. */
void sim_slices_normalize(const struct sim_slices *slices, double *values, const double *means, const double *rstds,
                          const double *weight, const double *bias);

/* The gradient of a normalization. */
struct sim_gradient {
    double *gr_output; /* the gradient of the output, which becomes that of the input */
    const double *gr_input, *gr_means, *gr_rstds, *gr_weight;
    bool gr_through_means, gr_through_rstds; /* these depend on the input */
    double *gr_weights, *gr_biases;          /* results, per channel: the gradients of weight and bias */
};
/* The arguments of the gradient of an operator. Only the first elements of `rows` dimensions of mean and rstd are read;
 * with SIM_RANK all. */
struct sim_gradient_arguments {
    const aclsimArgument *ga_output, *ga_mean, *ga_rstd, *ga_weight; /* ga_mean NULL: all means are 0 */
    uint32_t ga_rows;
};
/* Loads the arguments beside the input, and allocates memory for the results. The gradient goes through means, if there
 * are any, and rstds. */
aclError sim_gradient_load(const struct sim_slices *slices, const struct sim_gradient_arguments *arguments,
                           const double *input, struct sim_lists *lists, struct sim_gradient *gradient);
/* Adds the gradients of weight and bias to lists of zeros. */
void sim_gradient_sum(const struct sim_slices *slices, const struct sim_gradient *gradient);
/* The same, then computes the gradient of the input. Returns 207001 if there is no memory. */
aclError sim_gradient_run(const struct sim_slices *slices, const struct sim_gradient *gradient,
                          struct sim_lists *lists);
/* Stores the gradients of input, weight and bias for which the mask is true. */
void sim_gradient_store(const aclsimArgument *mask, const aclsimArgument *outputs,
                        const struct sim_gradient *gradient);

/* ---- checks ---- */

/* An optional tensor that a call needs: returns 161001 if it is absent and `needed`. */
aclnnStatus sim_require_present(const aclsimArgument *argument, bool needed);
/* The mask has three booleans; each output whose boolean is true is present (otherwise 161001). */
aclnnStatus sim_require_masked(const aclsimArgument *mask, const aclsimArgument *outputs);
/* The tensor has one dimension of size `count`, if it is present. */
aclnnStatus sim_require_channels(const aclsimArgument *numbers, int64_t count);
/* The array has the sizes of the last dimensions of the input. */
aclnnStatus sim_require_normalized(const aclsimArgument *input, const aclsimArgument *shape);
/* The tensor has the input's shape, with 1 for the normalized dimensions: all but the first `rows` ones. */
aclnnStatus sim_require_numbers(const aclsimArgument *numbers, const aclsimTensor *input, uint32_t rows);
/* The same for an rstd, for which the documents leave open whether it has the dimensions of 1. Some programs pass a
 * tensor with the shape of the input; then each number is at the start of its line. */
aclnnStatus sim_require_rstd(const aclsimArgument *rstd, const aclsimTensor *input, uint32_t rows);
/* The tensor has the sizes of the last dimensions of the input. */
aclnnStatus sim_require_gamma(const aclsimArgument *gamma, const aclsimArgument *input);

#endif
