/* Rotary positions since CANN 8.5: RotaryPositionEmbedding (x, cos, sin, mode, out), also with an optional matrix that
 * turns, before out, its gradient (dy, cos, sin, x,
 * mode, dx, dcos, dsin), and ApplyRotaryPosEmb with a mode. The gradients of cosines and sines are summed over the
 * dimensions along which these are broadcast, in double. */
#include "rotary.h"

#include "base/bytes.h"
#include "base/fail.h"
#include "require.h"
#include <inttypes.h>
#include <stdlib.h>

enum { X, COS, SIN, MODE, OUT };
enum { GRAD_X = 3, GRAD_MODE, GRAD_OUT, GRAD_COS, GRAD_SIN };

/* ---- checks ---- */

static aclnnStatus check_shape(const aclsimArgument *argument, const aclsimTensor *x, const char *whose)
{
    SIM_ARGUMENT(sim_require_is_shape(argument->tensors, x->dims, x->rank), ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has another shape than %s, expected the same", argument->name, whose);
    return ACL_SUCCESS;
}

/* Cosines and sines are broadcast to x; the last dimension is not. */
static aclnnStatus check_table(const aclsimArgument *table, const aclsimTensor *x, const char *whose)
{
    const aclsimTensor *tensor = table->tensors;
    SIM_ARGUMENT(tensor->rank == x->rank, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has %u dimensions, expected %u, as %s", table->name, tensor->rank, x->rank, whose);
    for (uint32_t k = 0; k < x->rank; k++)
        SIM_ARGUMENT(tensor->dims[k] == x->dims[k] || (tensor->dims[k] == 1 && k + 1 < x->rank),
                     ACLNN_ERR_INNER_TILING_ERROR,
                     "dimension %u of %s is %" PRId64 ", expected %s%" PRId64, k, table->name, tensor->dims[k],
                     k + 1 < x->rank ? "1 or " : "", x->dims[k]);
    return ACL_SUCCESS;
}

static aclnnStatus check_operands(const aclsimArgument *all, const aclsimArgument *mode)
{
    const aclsimTensor *x = all[X].tensors;
    for (size_t i = X; i <= SIN; i++)
        SIM_TRY(sim_require_types(&all[X], &all[i], SIM_TYPES_SINGLE));
    SIM_ARGUMENT(x->rank == 3 || x->rank == 4, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s has %u dimensions, expected 3 or 4", all[X].name, x->rank);
    SIM_ARGUMENT(mode->integer >= 0 && mode->integer < SIM_ROTARY_MODES, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 ", expected 0 to %d", mode->name, mode->integer, SIM_ROTARY_MODES - 1);
    const int64_t columns = x->dims[x->rank - 1], parts = mode->integer == SIM_ROTARY_QUARTER ? 4 : 2;
    SIM_ARGUMENT(columns % parts == 0 && columns <= SIM_ROTARY_COLUMNS, ACLNN_ERR_INNER_TILING_ERROR,
                 "dimension %u of %s is %" PRId64 ", expected a multiple of %" PRId64 " up to %d", x->rank - 1,
                 all[X].name, columns, parts, SIM_ROTARY_COLUMNS);
    SIM_TRY(check_table(&all[COS], x, all[X].name));
    return check_shape(&all[SIN], all[COS].tensors, all[COS].name);
}

/* ---- the operator ---- */

static aclnnStatus plan_rotary(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments, *out = &all[call->argumentCount - 1];
    (void)workspace_size;
    SIM_TRY(check_operands(all, &all[MODE]));
    SIM_ARGUMENT(out == &all[OUT] || all[OUT].present == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s is given, which the simulator does not support, expected NULL", all[OUT].name);
    SIM_TRY(sim_require_same_type(out, all[X].tensors->type, all[X].name));
    return check_shape(out, all[X].tensors, all[X].name);
}

static aclError run_rotary(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    sim_rotary_run((enum sim_rotary)all[MODE].integer, all[call->argumentCount - 1].tensors, all[X].tensors,
                   all[COS].tensors, all[SIN].tensors);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnRotaryPositionEmbedding = {plan_rotary, run_rotary, NULL, false},
                        sim_kernel_aclnnRotaryPositionEmbeddingV2 = {plan_rotary, run_rotary, NULL, false};

/* ---- its gradient ---- */

/* x is present, and so are the gradients of cosines and sines. */
static bool has_tables(const aclsimArgument *all)
{
    return all[GRAD_X].present && all[GRAD_COS].present && all[GRAD_SIN].present;
}

static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_operands(all, &all[GRAD_MODE]));
    for (size_t i = GRAD_X; i <= GRAD_SIN; i++) {
        if (i == GRAD_MODE || (i != GRAD_OUT && !has_tables(all)))
            continue;
        SIM_TRY(sim_require_same_type(&all[i], all[X].tensors->type, all[X].name));
        SIM_TRY(i < GRAD_COS ? check_shape(&all[i], all[X].tensors, all[X].name)
                             : check_shape(&all[i], all[COS].tensors, all[COS].name));
    }
    return ACL_SUCCESS;
}

struct gradient {
    enum sim_rotary gr_mode;
    int64_t gr_count;
    struct sim_line gr_upper, gr_x, gr_cosines, gr_sines, gr_out; /* gr_x: of x, if it is present */
    bool gr_has_x;
    double *gr_sums; /* per line of the tables: those of cosines, then those of sines */
    int64_t gr_steps[SIM_RANK], gr_dims[SIM_RANK]; /* of the sums along the lines' dimensions */
    uint32_t gr_rank;
    int64_t gr_line; /* number of the next line */
};

/* The line of sums to which line `number` of x belongs. */
static int64_t sums_of(const struct gradient *gradient, int64_t number)
{
    int64_t at = 0;
    for (uint32_t k = gradient->gr_rank; k-- > 0; number /= gradient->gr_dims[k])
        at += number % gradient->gr_dims[k] * gradient->gr_steps[k];
    return at;
}

/* places: the addresses of a line of dx, dy, cos, sin and x. */
static aclError add_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct gradient *gradient = context;
    const int64_t count = gradient->gr_count;
    const bool regroups = gradient->gr_mode == SIM_ROTARY_INTERLEAVED_HALF;
    float upper[SIM_ROTARY_COLUMNS], cosines[SIM_ROTARY_COLUMNS], sines[SIM_ROTARY_COLUMNS], x[SIM_ROTARY_COLUMNS];
    float out[SIM_ROTARY_COLUMNS], other[SIM_ROTARY_COLUMNS], sign;
    for (int64_t i = 0; i < length; i++) {
        sim_line_load(&gradient->gr_upper, SIM_CLASS_FLOAT, places[1] + i * strides[1], upper);
        sim_line_load(&gradient->gr_cosines, SIM_CLASS_FLOAT, places[2] + i * strides[2], cosines);
        sim_line_load(&gradient->gr_sines, SIM_CLASS_FLOAT, places[3] + i * strides[3], sines);
        for (int64_t c = 0; c < count; c++) { /* the transpose of a turn is the turn back */
            const int64_t from = sim_rotary_from(gradient->gr_mode, count, c, &sign);
            out[c] = cosines[c] * upper[c] - sign * sines[from] * upper[from];
        }
        if (regroups)
            sim_rotary_regroup(other, out, count, true);
        sim_line_store(&gradient->gr_out, SIM_CLASS_FLOAT, regroups ? other : out, places[0] + i * strides[0]);
        if (!gradient->gr_has_x)
            continue;
        double *sums = gradient->gr_sums + 2 * count * sums_of(gradient, gradient->gr_line++);
        sim_line_load(&gradient->gr_x, SIM_CLASS_FLOAT, places[4] + i * strides[4], x);
        if (regroups)
            sim_rotary_regroup(other, x, count, false);
        for (int64_t c = 0; c < count; c++) {
            const float *mine = regroups ? other : x;
            const int64_t from = sim_rotary_from(gradient->gr_mode, count, c, &sign);
            sums[c] += (double)upper[c] * mine[c];
            sums[count + c] += (double)sign * upper[c] * mine[from];
        }
    }
    return ACL_SUCCESS;
}

/* Allocates the sums, and notes which of them belongs to a line of x. */
static aclError start_sums(struct gradient *gradient, const aclsimTensor *x, const aclsimTensor *table)
{
    const int64_t numbers = sim_walk_count(table);
    int64_t step = 1;
    gradient->gr_sums = numbers < 0 ? NULL : calloc((size_t)numbers * 2 + 1, sizeof *gradient->gr_sums);
    SIM_CHECK(gradient->gr_sums != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for the gradients of %" PRId64 " numbers", numbers);
    gradient->gr_rank = x->rank - 1;
    for (uint32_t k = gradient->gr_rank; numbers > 0 && k-- > 0;) { /* dimensions beside a 0 may have any product */
        gradient->gr_dims[k] = x->dims[k];
        gradient->gr_steps[k] = table->dims[k] == 1 ? 0 : step;
        step *= table->dims[k];
    }
    return ACL_SUCCESS;
}

/* What the lines of a result and the sums are stored with. */
struct finished {
    struct sim_line fi_line;
    const double *fi_sums;
    int64_t fi_count;
};

static aclError store_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct finished *finished = context;
    for (int64_t i = 0; i < length; i++, finished->fi_sums += 2 * finished->fi_count) {
        float numbers[SIM_ROTARY_COLUMNS];
        for (int64_t c = 0; c < finished->fi_count; c++)
            numbers[c] = (float)finished->fi_sums[c];
        sim_line_store(&finished->fi_line, SIM_CLASS_FLOAT, numbers, places[0] + i * strides[0]);
    }
    return ACL_SUCCESS;
}

static void store_table(const aclsimTensor *table, const double *sums, int64_t count)
{
    const aclsimTensor lines = sim_line_without(table, table->rank - 1);
    struct finished finished = {sim_line_of(table, table->rank - 1, 1), sums, count};
    sim_walk_in_order((const aclsimTensor *[]){&lines}, 1, store_lines, &finished);
}

static aclError run_gradient(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    const aclsimTensor *upper = all[X].tensors, *x = has_tables(all) ? all[GRAD_X].tensors : upper;
    const aclsimTensor *const tensors[] = {all[GRAD_OUT].tensors, upper, all[COS].tensors, all[SIN].tensors, x};
    const uint32_t last = upper->rank - 1;
    aclsimTensor lines[5];
    const aclsimTensor *walked[5];
    if (upper->dims[last] == 0) /* an empty dy with columns has gradients of tables, which are 0 */
        return ACL_SUCCESS;
    struct gradient gradient = {
        .gr_mode = (enum sim_rotary)all[GRAD_MODE].integer,
        .gr_count = upper->dims[last],
        .gr_upper = sim_line_of(upper, last, 1),
        .gr_x = sim_line_of(x, last, 1),
        .gr_cosines = sim_line_of(all[COS].tensors, last, 1),
        .gr_sines = sim_line_of(all[SIN].tensors, last, 1),
        .gr_out = sim_line_of(all[GRAD_OUT].tensors, last, 1),
        .gr_has_x = has_tables(all),
    };
    if (gradient.gr_has_x)
        SIM_TRY(start_sums(&gradient, upper, all[COS].tensors));
    for (size_t i = 0; i < 5; i++) {
        lines[i] = sim_line_without(tensors[i], last);
        walked[i] = &lines[i];
    }
    sim_walk_in_order(walked, 5, add_lines, &gradient);
    if (gradient.gr_has_x) {
        store_table(all[GRAD_COS].tensors, gradient.gr_sums, gradient.gr_count);
        store_table(all[GRAD_SIN].tensors, gradient.gr_sums + gradient.gr_count, gradient.gr_count);
    }
    free(gradient.gr_sums);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnRotaryPositionEmbeddingGrad = {plan_gradient, run_gradient, NULL, false},
                        sim_kernel_aclnnApplyRotaryPosEmbV2 = {sim_rotary_plan_apply, sim_rotary_run_apply, NULL,
                                                               false};
