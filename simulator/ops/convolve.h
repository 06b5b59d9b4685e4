/* What the convolution operators share: checks, and the computation of one tensor from two others.
 *
 * A convolution relates three tensors. The wide one has the shape (batch, groups * channels, length...), the narrow one
 * has one position per window of the wide one, and the weight has the shape (narrow channels, wide channels of a group,
 * kernel...). The input of a plain convolution is wide and its output is narrow; the input of a transposed one is
 * narrow and its output is wide. Both have the same layout of the weight, and each gradient is one of the three
 * computations: narrow from wide and weight, wide from narrow and weight, or weight from narrow and wide. */
#ifndef OPS_CONVOLVE_H
#define OPS_CONVOLVE_H

#include "cube.h"

#define SIM_SPACE 3 /* the most directions in which a window moves */

/* The arguments of a call. The output may be its gradient. */
struct sim_convolution_call {
    const aclsimArgument *cc_input, *cc_weight, *cc_output;
    const aclsimArgument *cc_step, *cc_padding, *cc_apart;
    const aclsimArgument *cc_extra; /* outputPadding; NULL: the operator has none */
    const aclsimArgument *cc_math;
    int64_t cc_groups;
    bool cc_transposed;
};

/* Returns 161002 unless types, shapes and numbers fit each other. `channels` receives the number of output channels. */
aclnnStatus sim_convolution_check(const struct sim_convolution_call *call, int64_t *channels);

/* ConvTbc and its gradient have the layout (length, batch, channels), and a weight of (kernel, input channels, output
 * channels). This holds views of their tensors in the usual layout, and the numbers that they do not have. */
struct sim_convolution_tbc {
    aclsimTensor ct_tensors[3];
    aclsimArgument ct_arguments[3], ct_one, ct_padding;
    int64_t ct_pad;
};

aclsimTensor sim_convolution_tbc_image(const aclsimTensor *tensor);
aclsimTensor sim_convolution_tbc_weight(const aclsimTensor *tensor);
/* Fills `tbc`, which must outlive the call that is returned. The tensors have three dimensions. */
struct sim_convolution_call sim_convolution_tbc(struct sim_convolution_tbc *tbc, const aclsimArgument *input,
                                                const aclsimArgument *weight, const aclsimArgument *output,
                                                const aclsimArgument *pad, const aclsimArgument *math);

/* ---- the computation ---- */

enum sim_convolution_part { SIM_PART_WIDE, SIM_PART_NARROW, SIM_PART_WEIGHT };
#define SIM_PARTS 3

/* The sizes in one direction: lengths of the tensors, and the step, dilation and padding of the window. */
struct sim_convolution_axis {
    int64_t ca_wide, ca_narrow, ca_kernel;
    int64_t ca_step, ca_apart, ca_before;
};

struct sim_convolution {
    struct sim_convolution_axis cv_axes[SIM_SPACE]; /* missing directions come first and have sizes of 1 */
    int64_t cv_batch, cv_groups;
    int64_t cv_wide, cv_narrow; /* channels of a group */
    enum sim_rounding cv_rounding;
    float *cv_values[SIM_PARTS]; /* the elements of the tensors, contiguous; NULL for one that is not used */
    bool cv_lent[SIM_PARTS];     /* they are those of the tensor */
};

/* The sizes of a call that has been checked, with no values. */
struct sim_convolution sim_convolution_of(const struct sim_convolution_call *call);

/* Loads the values of a tensor, or zeros for a result. Contiguous floats are used where they are, others have memory
 * that is freed with sim_convolution_free, also after an error. Returns 207001 if the host is out of memory. */
aclError sim_convolution_load(struct sim_convolution *convolution, enum sim_convolution_part part,
                              const aclsimTensor *tensor);
aclError sim_convolution_clear(struct sim_convolution *convolution, enum sim_convolution_part part,
                               const aclsimTensor *tensor);
void sim_convolution_free(struct sim_convolution *convolution);

/* Adds to the values of one part what follows from the other two parts. Returns 207001 if there is no memory. */
aclError sim_convolution_run(const struct sim_convolution *convolution, enum sim_convolution_part part);

/* Does so for the narrow part, whose sums are not empty. */
aclError sim_convolution_narrow(const struct sim_convolution *convolution);

/* Stores the values of a part, each rounded once. */
void sim_convolution_store(const struct sim_convolution *convolution, enum sim_convolution_part part,
                           const aclsimTensor *tensor);

#endif
