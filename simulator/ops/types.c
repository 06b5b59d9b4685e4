/* Kernels that share a plan or a run function have a description in their user data, and the description has the sets
 * of types. The shared functions tell which description it is. */
#include "types.h"

#include "ask.h"
#include "curve.h"
#include "foreach.h"
#include "formula.h"
#include "pool.h"
#include "reduce.h"

void sim_types_of(struct sim_row *row, uint64_t *in, uint64_t *out)
{
    const struct sim_kernel *kernel = row->ro_builtin;
    *in = *out = 0;
    sim_ask_types(row, in, out);
    if (*in != 0 || *out != 0)
        return;
    if (kernel->kn_plan == sim_formula_plan || kernel->kn_run == sim_formula_run) {
        const struct sim_formula *formula = kernel->kn_user;
        *in = formula->fo_in;
        *out = formula->fo_out;
    } else if (kernel->kn_plan == sim_curve_plan || kernel->kn_run == sim_curve_run) {
        const struct sim_curve *curve = kernel->kn_user;
        *in = curve->cu_in;
        *out = curve->cu_out;
    } else if (kernel->kn_plan == sim_reduction_plan || kernel->kn_plan == sim_reduction_plan_two) {
        const struct sim_reduction *reduction = kernel->kn_user;
        *in = reduction->re_types;
        *out = reduction->re_tests != 0 ? reduction->re_tests : reduction->re_types;
    } else if (kernel->kn_plan == sim_foreach_plan) {
        *in = *out = ((const struct sim_foreach *)kernel->kn_user)->fe_types;
    } else if (kernel->kn_plan == sim_pooling_plan) {
        *in = *out = ((const struct sim_pooling *)kernel->kn_user)->po_types;
    }
}
