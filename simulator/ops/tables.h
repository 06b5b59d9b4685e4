/* Operator schemas that core/simulator.c hands to the room of operators. */
#ifndef SIM_TABLES_H
#define SIM_TABLES_H

#include "operator/row.h"

/* What programs see: made by the build. */
extern const struct sim_row_table sim_rows;

/* Rows of single operators that programs do not see, because no aclnn operator does the same. Their arguments: */
extern struct sim_row sim_op_gemm_row;        /* ops/gemm.c: a, b, c, alpha, beta, y */
extern struct sim_row sim_op_exp_row;         /* ops/activation.c: x, base, scale, shift, y */
extern struct sim_row sim_op_log_row;         /* the same */
extern struct sim_row sim_op_power_row;       /* x, power, scale, shift, y */
extern struct sim_row sim_op_leaky_relu_row;  /* x, negative_slope, y */
extern struct sim_row sim_op_swish_row;       /* x, scale, y */
extern struct sim_row sim_op_relu6_row;       /* x, y */
extern struct sim_row sim_op_hard_swish_row;  /* x, y */
extern struct sim_row sim_op_clip_row;        /* ops/assign.c: x, clip_value_min, clip_value_max, y */
extern struct sim_row sim_op_strided_row;     /* ops/part.c: x, starts, steps, sizes, y */
extern struct sim_row sim_op_split_row;       /* x, axis, sizes, outputs */
extern struct sim_row sim_op_pad_row;         /* x, pads, value, y */
extern struct sim_row sim_op_gather_nd_row;   /* x, indices, y */
extern struct sim_row sim_op_prod_row;        /* ops/reduce.c: x, axes, keep_dims, y */
extern struct sim_row sim_op_layer_norm_row;  /* ops/norm.c: x, shape, gamma, beta, epsilon, y, mean, variance */
extern struct sim_row sim_op_range_row;       /* ops/generate.c: start, limit, delta, y */
extern struct sim_row sim_op_max_pool_row;    /* ops/window.c: x, axes, ksize, strides, pads, counts_pads, divisor, y */
extern struct sim_row sim_op_avg_pool_row;    /* the same */
extern struct sim_row sim_op_conv2d_row;      /* ops/window.c: x, filter, bias, axes, filter_axes, strides, pads,
                                                 dilations, groups, y */

#endif
