/* Reductions that combine elements in one pass: ReduceSum, ReduceNansum, Mean, MeanV2, Prod, ProdDim, Amax, Amin,
 * Aminmax, AminmaxAll, AminmaxDim, Max, MaxV2, Min, All and Any. */
#include "operator/op.h"
#include "reduce.h"
#include "tables.h"

#define AVERAGED (SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL)

SIM_REDUCTION(ReduceSum, SIM_FOLD_SUM, SIM_TYPES_ARITHMETIC, .re_casts = true, .re_dims = 1, .re_keeps = 2,
              .re_type = 3, .re_out = 4)
SIM_REDUCTION(Mean, SIM_FOLD_SUM, AVERAGED, .re_averages = true, .re_casts = true, .re_dims = 1, .re_keeps = 2,
              .re_type = 3, .re_out = 4)
SIM_REDUCTION(MeanV2, SIM_FOLD_SUM, AVERAGED, .re_averages = true, .re_casts = true, .re_dims = 1, .re_keeps = 2,
              .re_noop = 3, .re_out = 4)
SIM_REDUCTION(Prod, SIM_FOLD_PRODUCT, SIM_TYPES_ARITHMETIC, .re_casts = true, .re_type = 1, .re_out = 2)
SIM_REDUCTION(ProdDim, SIM_FOLD_PRODUCT, SIM_TYPES_ARITHMETIC, .re_casts = true, .re_dims = 1, .re_keeps = 2,
              .re_type = 3, .re_out = 4)
SIM_REDUCTION(Amax, SIM_FOLD_GREATEST, SIM_TYPES_REAL, .re_dims = 1, .re_keeps = 2, .re_out = 3)
SIM_REDUCTION(Amin, SIM_FOLD_LEAST, SIM_TYPES_REAL, .re_dims = 1, .re_keeps = 2, .re_out = 3)
SIM_REDUCTION(MaxV2, SIM_FOLD_GREATEST, SIM_TYPES_REAL, .re_dims = 1, .re_keeps = 2, .re_noop = 3, .re_out = 4)
SIM_REDUCTION(Max, SIM_FOLD_GREATEST, SIM_TYPES_REAL, .re_casts = true, .re_out = 1)
SIM_REDUCTION(Min, SIM_FOLD_LEAST, SIM_TYPES_REAL, .re_casts = true, .re_out = 1)

SIM_REDUCE_MAP(skip_nans, x != x ? 0 : x)
SIM_REDUCTION(ReduceNansum, SIM_FOLD_SUM, SIM_TYPES_REAL & ~SIM_TYPE(ACL_DOUBLE), .re_casts = true,
              .re_map = skip_nans, .re_dims = 1, .re_keeps = 2, .re_type = 3, .re_out = 4)

/* The sum and the product of bools are whether any, and whether all of them are true. */
SIM_REDUCTION(Any, SIM_FOLD_SUM, SIM_TYPES_REAL, .re_tests = SIM_TYPES_BOOL, .re_dims = 1, .re_keeps = 2, .re_out = 3)
SIM_REDUCTION(All, SIM_FOLD_PRODUCT, SIM_TYPES_REAL, .re_tests = SIM_TYPES_BOOL | SIM_TYPE(ACL_UINT8), .re_dims = 1,
              .re_keeps = 2, .re_out = 3)

#define BOTH_EXTREMES                                                                                                  \
    {SIM_FOLD_LEAST, SIM_TYPES_REAL, .re_dims = 1, .re_keeps = 2, .re_out = 3},                                        \
    {                                                                                                                  \
        SIM_FOLD_GREATEST, SIM_TYPES_REAL, .re_dims = 1, .re_keeps = 2, .re_out = 4                                    \
    }
SIM_REDUCTION_TWO(Aminmax, BOTH_EXTREMES)
SIM_REDUCTION_TWO(AminmaxDim, BOTH_EXTREMES)
SIM_REDUCTION_TWO(AminmaxAll, {SIM_FOLD_LEAST, SIM_TYPES_REAL, .re_out = 1},
                  {SIM_FOLD_GREATEST, SIM_TYPES_REAL, .re_out = 2})

/* The single operator ReduceProd accepts any number of axes, while aclnnProdDim accepts one. */
static const struct sim_reduction product_reduction = {SIM_FOLD_PRODUCT, SIM_TYPES_ARITHMETIC, .re_dims = 1,
                                                       .re_keeps = 2, .re_out = 3};
static const struct sim_kernel product_kernel = {sim_reduction_plan, sim_reduction_run, (void *)&product_reduction,
                                                 false};
static const struct sim_parameter product_parameters[] = {
    {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"axes", ACLSIM_INTEGERS, 0, false},
    {"keep_dims", ACLSIM_INTEGER, 0, false},
    {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_prod_row = SIM_ROW("ReduceProd", SIM_TASK_VECTOR, product_parameters, &product_kernel);
