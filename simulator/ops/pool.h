/* The windows of pools: AvgPool, MaxPool and their adaptive forms, forward and backward. */
#ifndef OPS_POOLING_H
#define OPS_POOLING_H

#include "operator/row.h"
#include "planes.h"

/* Describes an operator: the positions of its arguments in the schema; 0: it has no such argument, except that self may
 * be at 0. `po_pooled` is the tensor with one element per window: the result, or the gradient of the result. */
struct sim_pooling {
    uint64_t po_types;
    uint64_t po_index_types;
    uint8_t po_directions;
    uint8_t po_self, po_pooled;
    uint8_t po_kernel, po_stride, po_padding, po_dilation, po_ceil; /* of windows at regular distances */
    uint8_t po_counts_pads, po_divisor;
    uint8_t po_auto;       /* MaxPool: must be 0; padding of each side, and a stride of 1 if none is given */
    uint8_t po_sizes;      /* adaptive pools: the number of windows, which is that of po_pooled if there is none */
    uint8_t po_indices;
    uint8_t po_gradient;   /* of self */
    bool po_masks;         /* the indices are a mask, */
    bool po_words;         /* of words of 16 bits instead of blocks of 32 bytes */
    bool po_fills;         /* no dimension may be 0; otherwise the first one of a batch may */
};

/* The windows in one direction. In an adaptive pool wn_kernel is 0, and the windows share the length evenly. */
struct sim_pooling_windows {
    int64_t wn_length; /* of the image */
    int64_t wn_kernel, wn_step, wn_apart, wn_before, wn_after;
    int64_t wn_count;
};

/* The elements of one window in one direction that are inside of the image: wc_first, and each wc_apart-th from there,
 * to before wc_end. wc_skipped is the number of elements before them. */
struct sim_pooling_cells {
    int64_t wc_first, wc_end, wc_apart, wc_skipped;
    int64_t wc_padded; /* elements, with those of the padding */
};

/* Checks types, ranks, windows and shapes, and finds the windows for depth, height and width. */
aclnnStatus sim_pooling_check(const aclsimCall *call, struct sim_pooling_windows *windows);
/* A plan for a kernel whose user data is a struct sim_pooling. */
aclnnStatus sim_pooling_plan(const aclsimCall *call, uint64_t *workspace_size);

/* Calls `each` for each window of each image; `pooled` is the index of the window's element among all. */
typedef aclError sim_pooling_func(void *context, int64_t image, int64_t pooled, const struct sim_pooling_cells *cells);
aclError sim_pooling_each(const struct sim_pooling_windows *windows, int64_t images, sim_pooling_func *each,
                          void *context);

#define SIM_POOLING(op, run, ...)                                                                                      \
    static const struct sim_pooling pool_##op = {__VA_ARGS__};                                                         \
    const struct sim_kernel sim_kernel_aclnn##op = {sim_pooling_plan, run, (void *)&pool_##op, false};

#endif
