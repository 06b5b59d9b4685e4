/* Linear algebra on batches of matrices: TriangularSolve, Inverse, Slogdet, Logdet, LinalgQr and Qr.
 *
 * A singular matrix is not an error: its zero pivots give infinities and NaN. Each algorithm is written once, as a
 * macro for both classes: a real matrix must not be computed as a complex one, because an infinity times an imaginary
 * part of 0 is NaN. */
#include "base/fail.h"
#include "matrices.h"
#include "operator/row.h"
#include "require.h"

#include <math.h>
#include <string.h>

#define SOLVED (SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_DOUBLE) | SIM_TYPES_COMPLEX)
#define DECOMPOSED (SOLVED | SIM_TYPE(ACL_FLOAT16))

/* ---- algorithms, on rows of contiguous elements ---- */

static double same(double value)
{
    return value;
}

static double none(double value)
{
    (void)value;
    return 0;
}

/* Which triangle is read, with its elements (i, j) at i * tr_row + j * tr_column. */
struct triangle {
    bool tr_upper, tr_unit; /* with tr_unit, the diagonal counts as ones */
    int64_t tr_row, tr_column;
};

/* Replaces `columns` right sides by the solution. */
#define SOLVE(name, element)                                                                                           \
    static void solve_##name(const element *matrix, const struct triangle *triangle, element *sides, int64_t size,     \
                             int64_t columns)                                                                          \
    {                                                                                                                  \
        for (int64_t step = 0; step < size; step++) {                                                                  \
            const int64_t i = triangle->tr_upper ? size - 1 - step : step;                                             \
            const element *row = matrix + i * triangle->tr_row;                                                        \
            element *to = sides + i * columns;                                                                         \
            for (int64_t j = triangle->tr_upper ? i + 1 : 0; j < (triangle->tr_upper ? size : i); j++)                 \
                for (int64_t k = 0; k < columns; k++)                                                                  \
                    to[k] -= row[j * triangle->tr_column] * sides[j * columns + k];                                    \
            for (int64_t k = 0; !triangle->tr_unit && k < columns; k++)                                                \
                to[k] /= row[i * triangle->tr_column];                                                                 \
        }                                                                                                              \
    }

/* Makes a square matrix upper triangular by Gaussian elimination with partial pivoting, and changes the right sides
 * alike. Returns -1 if it has swapped an odd number of rows, otherwise 1. */
#define ELIMINATE(name, element, magnitude)                                                                            \
    static int eliminate_##name(element *matrix, element *sides, int64_t size, int64_t columns)                        \
    {                                                                                                                  \
        int sign = 1;                                                                                                  \
        for (int64_t step = 0; step < size; step++) {                                                                  \
            element *row = matrix + step * size, *side = sides + step * columns;                                       \
            int64_t pivot = step;                                                                                      \
            for (int64_t i = step + 1; i < size; i++)                                                                  \
                if (magnitude(matrix[i * size + step]) > magnitude(matrix[pivot * size + step]))                       \
                    pivot = i;                                                                                         \
            if (pivot != step) {                                                                                       \
                sim_matrices_swap(row, matrix + pivot * size, (size_t)size * sizeof *row);                             \
                sim_matrices_swap(side, sides + pivot * columns, (size_t)columns * sizeof *side);                      \
                sign = -sign;                                                                                          \
            }                                                                                                          \
            for (int64_t i = step + 1; row[step] != 0 && i < size; i++) {                                              \
                const element factor = matrix[i * size + step] / row[step];                                            \
                for (int64_t k = step + 1; k < size; k++)                                                              \
                    matrix[i * size + k] -= factor * row[k];                                                           \
                for (int64_t k = 0; k < columns; k++)                                                                  \
                    sides[i * columns + k] -= factor * side[k];                                                        \
            }                                                                                                          \
        }                                                                                                              \
        return sign;                                                                                                   \
    }

/* Householder reflections as LAPACK makes them: the reflection I - scale * v * v^H has v[step] = 1, and the following
 * elements of v are stored below the diagonal. It is applied to the columns of `to` from `first` on. */
#define DECOMPOSE(name, element, magnitude, real, imaginary, conjugate)                                                \
    static void reflect_##name(const element *matrix, int64_t rows, int64_t columns, int64_t step, element scale,      \
                               element *to, int64_t width, int64_t first)                                              \
    {                                                                                                                  \
        for (int64_t k = first; k < width; k++) {                                                                      \
            element sum = to[step * width + k];                                                                        \
            for (int64_t i = step + 1; i < rows; i++)                                                                  \
                sum += conjugate(matrix[i * columns + step]) * to[i * width + k];                                      \
            sum *= scale;                                                                                              \
            to[step * width + k] -= sum;                                                                               \
            for (int64_t i = step + 1; i < rows; i++)                                                                  \
                to[i * width + k] -= matrix[i * columns + step] * sum;                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static void decompose_##name(element *matrix, element *scales, int64_t rows, int64_t columns)                      \
    {                                                                                                                  \
        for (int64_t step = 0; step < rows && step < columns; step++) {                                                \
            const element head = matrix[step * columns + step];                                                        \
            double rest = 0;                                                                                           \
            for (int64_t i = step + 1; i < rows; i++)                                                                  \
                rest = hypot(rest, magnitude(matrix[i * columns + step]));                                             \
            scales[step] = 0;                                                                                          \
            if (rest == 0 && imaginary(head) == 0)                                                                     \
                continue;                                                                                              \
            const double length = -copysign(hypot(magnitude(head), rest), real(head));                                 \
            scales[step] = (length - head) / length;                                                                   \
            for (int64_t i = step + 1; i < rows; i++)                                                                  \
                matrix[i * columns + step] /= head - length;                                                           \
            matrix[step * columns + step] = length;                                                                    \
            reflect_##name(matrix, rows, columns, step, conjugate(scales[step]), matrix, columns, step + 1);           \
        }                                                                                                              \
    }

SOLVE(reals, double)
SOLVE(pairs, sim_pair)
ELIMINATE(reals, double, fabs)
ELIMINATE(pairs, sim_pair, cabs)
DECOMPOSE(reals, double, fabs, same, none, same)
DECOMPOSE(pairs, sim_pair, cabs, creal, cimag, conj)

/* ---- TriangularSolve: self, A, upper, transpose, unitriangular, xOut, mOut ---- */

static aclnnStatus plan_solve(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *matrix = given[1].tensors;
    int64_t dims[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[1], SOLVED));
    SIM_TRY(sim_require_types(&given[0], &given[5], SOLVED));
    SIM_TRY(sim_require_types(&given[0], &given[6], SOLVED));
    SIM_TRY(sim_require_rank(&given[0], 2, SIM_RANK));
    SIM_TRY(sim_matrices_require_square(&given[1]));
    const uint32_t rank = self->rank > matrix->rank ? self->rank : matrix->rank;
    const int64_t size = matrix->dims[matrix->rank - 1], rows = self->dims[self->rank - 2];
    SIM_ARGUMENT(rows == size, ACLNN_ERR_PARAM_INVALID, "%s has matrices of %lld rows, expected %lld, those of %s",
                 given[0].name, (long long)rows, (long long)size, given[1].name);
    SIM_TRY(sim_matrices_require_batches(&given[0], &given[1], dims));
    dims[rank - 2] = size;
    dims[rank - 1] = self->dims[self->rank - 1];
    SIM_TRY(sim_require_shape(&given[5], dims, rank, "that of the solution"));
    dims[rank - 1] = size;
    return sim_require_shape(&given[6], dims, rank, "that of the matrices");
}

/* The views are the solution, the copy of the matrix, self, and the matrix. */
static void solve(struct sim_matrices *job)
{
    const aclsimArgument *given = job->ma_given;
    const bool transposes = given[3].integer != 0;
    const int64_t size = job->ma_views[3].dims[0], columns = job->ma_views[0].dims[1];
    const struct triangle triangle = {(given[2].integer != 0) != transposes, given[4].integer != 0,
                                      transposes ? 1 : size, transposes ? size : 1};
    double *matrix = job->ma_values, *sides = matrix + size * size * sim_matrices_width(job);
    sim_matrices_load(job, &job->ma_views[3], matrix);
    sim_matrices_load(job, &job->ma_views[2], sides);
    sim_matrices_store(job, &job->ma_views[1], matrix);
    if (sim_matrices_complex(job))
        solve_pairs((sim_pair *)matrix, &triangle, (sim_pair *)sides, size, columns);
    else
        solve_reals(matrix, &triangle, sides, size, columns);
    sim_matrices_store(job, &job->ma_views[0], sides);
}

static aclError run_solve(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 2, 2, 2};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *const tensors[] = {given[5].tensors, given[6].tensors, given[0].tensors, given[1].tensors};
    const aclsimTensor *self = given[0].tensors;
    const int64_t size = self->dims[self->rank - 2], columns = self->dims[self->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, solve);
    return sim_matrices_run(&job, tensors, ranks, 4, size, size + columns);
}

/* ---- Inverse: self, out ---- */

static aclnnStatus plan_inverse(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[1];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_matrices_require_square(self));
    SIM_TRY(sim_matrices_require_elements(self));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

/* The views are the inverse and self. */
static void invert(struct sim_matrices *job)
{
    const int64_t size = job->ma_views[1].dims[0];
    const struct triangle upper = {true, false, size, 1};
    double *matrix = job->ma_values, *inverse = matrix + size * size;
    sim_matrices_load(job, &job->ma_views[1], matrix);
    sim_matrices_identity(job, inverse, size, size);
    eliminate_reals(matrix, inverse, size, size);
    solve_reals(matrix, &upper, inverse, size, size);
    sim_matrices_store(job, &job->ma_views[0], inverse);
}

static aclError run_inverse(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 2};
    const aclsimTensor *self = call->arguments[0].tensors, *const tensors[] = {call->arguments[1].tensors, self};
    const int64_t size = self->dims[self->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, invert);
    return sim_matrices_run(&job, tensors, ranks, 2, size, 2 * size);
}

/* ---- Slogdet: self, signOut, logOut; Logdet: self, out ---- */

static aclnnStatus plan_determinant(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0];
    const uint32_t batches = self->tensors->rank - 2;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, SOLVED));
    SIM_TRY(sim_matrices_require_square(self));
    for (size_t i = 1; i < call->argumentCount; i++) {
        const aclsimArgument *out = &call->arguments[i];
        SIM_TRY(sim_require_type(out, SOLVED));
        if (i == 1) /* the logarithm of the absolute value, the other result of Slogdet, is always real */
            SIM_TRY(sim_require_cast("the determinant", self->tensors->type, "the type of the output",
                                     out->tensors->type));
        SIM_TRY(batches == 0 ? sim_require_one(out)
                             : sim_require_shape(out, self->tensors->dims, batches, "one number per matrix"));
    }
    return ACL_SUCCESS;
}

/* Multiplies the sign by that of a pivot, and adds the logarithm of its absolute value. */
static void add_pivot(const struct sim_matrices *job, const double *pivot, sim_pair *sign, double *logarithm)
{
    if (sim_matrices_complex(job)) {
        const double size = cabs(*(const sim_pair *)(const void *)pivot);
        *sign *= size == 0 ? 0 : *(const sim_pair *)(const void *)pivot / size;
        *logarithm += log(size);
    } else {
        *sign *= *pivot == 0 || isnan(*pivot) ? *pivot : copysign(1, *pivot);
        *logarithm += log(fabs(*pivot));
    }
}

/* The first view is the sign, or the logarithm of the determinant; the second is self; the third, which only Slogdet
 * has, is the logarithm of the absolute value. */
static void find_determinant(struct sim_matrices *job)
{
    const int64_t size = job->ma_views[1].dims[0];
    const bool has_sign = job->ma_views[2].data != NULL;
    double *matrix = job->ma_values, logarithm = 0;
    sim_matrices_load(job, &job->ma_views[1], matrix);
    sim_pair sign = sim_matrices_complex(job) ? eliminate_pairs((sim_pair *)matrix, (sim_pair *)matrix, size, 0)
                                              : eliminate_reals(matrix, matrix, size, 0);
    for (int64_t i = 0; i < size; i++)
        add_pivot(job, matrix + (i * size + i) * sim_matrices_width(job), &sign, &logarithm);
    union sim_block_values first, second;
    memset(&first, 0, sizeof first);
    if (has_sign) {
        first.bv_double_pairs[0] = sign;
    } else if (sim_matrices_complex(job)) {
        first.bv_doubles[0] = logarithm;
        first.bv_doubles[1] = sign == 0 ? 0 : carg(sign);
    } else {
        first.bv_doubles[0] = creal(sign) < 0 ? (double)NAN : logarithm;
    }
    sim_element_store(&first, job->ma_class, job->ma_views[0].data, job->ma_views[0].type, 0, 1);
    if (!has_sign)
        return;
    second.bv_doubles[0] = logarithm;
    sim_element_store(&second, SIM_CLASS_DOUBLE, job->ma_views[2].data, job->ma_views[2].type, 0, 1);
}

static aclError run_determinant(const aclsimCall *call)
{
    static const uint32_t ranks[] = {0, 2, 0};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors;
    const uint32_t count = call->argumentCount == 3 ? 3 : 2;
    const aclsimTensor *const tensors[] = {given[1].tensors, self, given[count - 1].tensors};
    const int64_t size = self->dims[self->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, find_determinant);
    return sim_matrices_run(&job, tensors, ranks, count, size, size);
}

/* ---- LinalgQr: self, mode, Q, R; Qr: self, some, Q, R ---- */

enum mode { REDUCED, COMPLETE, ONLY_R };

static enum mode mode_of(const aclsimCall *call)
{
    const bool is_plain = *(const bool *)call->userData;
    if (is_plain)
        return call->arguments[1].integer != 0 ? REDUCED : COMPLETE;
    return (enum mode)call->arguments[1].integer;
}

static aclnnStatus plan_qr(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors;
    const uint32_t rank = self->rank;
    int64_t dims[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_types(&given[0], &given[2], DECOMPOSED));
    SIM_TRY(sim_require_types(&given[0], &given[3], DECOMPOSED));
    SIM_TRY(sim_require_rank(&given[0], 2, SIM_RANK));
    SIM_ARGUMENT(*(const bool *)call->userData || (given[1].integer >= REDUCED && given[1].integer <= ONLY_R),
                 ACLNN_ERR_PARAM_INVALID, "%s is %lld, expected 0 (reduced), 1 (complete) or 2 (only R)", given[1].name,
                 (long long)given[1].integer);
    const enum mode mode = mode_of(call);
    const int64_t rows = self->dims[rank - 2], columns = self->dims[rank - 1];
    memcpy(dims, self->dims, sizeof dims);
    dims[rank - 2] = rows;
    dims[rank - 1] = mode == COMPLETE || rows < columns ? rows : columns;
    if (mode != ONLY_R)
        SIM_TRY(sim_require_shape(&given[2], dims, rank, "that of Q"));
    dims[rank - 2] = dims[rank - 1];
    dims[rank - 1] = columns;
    return sim_require_shape(&given[3], dims, rank, "that of R");
}

/* The views are R, self and Q, which is absent if only R is wanted. */
static void decompose(struct sim_matrices *job)
{
    const int64_t rows = job->ma_views[1].dims[0], columns = job->ma_views[1].dims[1], width = sim_matrices_width(job);
    const int64_t wide = job->ma_views[0].dims[0], steps = rows < columns ? rows : columns;
    double *matrix = job->ma_values, *scales = matrix + rows * columns * width, *q = scales + rows * width;
    sim_matrices_load(job, &job->ma_views[1], matrix);
    if (sim_matrices_complex(job))
        decompose_pairs((sim_pair *)matrix, (sim_pair *)scales, rows, columns);
    else
        decompose_reals(matrix, scales, rows, columns);
    if (job->ma_views[2].data != NULL) {
        sim_matrices_identity(job, q, rows, wide);
        for (int64_t step = steps; step-- > 0;)
            if (sim_matrices_complex(job))
                reflect_pairs((sim_pair *)matrix, rows, columns, step, ((sim_pair *)scales)[step], (sim_pair *)q, wide,
                              0);
            else
                reflect_reals(matrix, rows, columns, step, scales[step], q, wide, 0);
        sim_matrices_store(job, &job->ma_views[2], q);
    }
    for (int64_t i = 1; i < wide; i++) /* the reflections are stored below the diagonal */
        memset(matrix + i * columns * width, 0, (size_t)((i < columns ? i : columns) * width) * sizeof(double));
    sim_matrices_store(job, &job->ma_views[0], matrix);
}

static aclError run_qr(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 2, 2};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *r = given[3].tensors;
    const aclsimTensor *const tensors[] = {r, self, given[2].tensors};
    const int64_t rows = self->dims[self->rank - 2], columns = self->dims[self->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, decompose);
    return sim_matrices_run(&job, tensors, ranks, mode_of(call) == ONLY_R ? 2 : 3, rows,
                       columns + 1 + r->dims[r->rank - 2]);
}

static const bool yes = true, no = false;

const struct sim_kernel sim_kernel_aclnnTriangularSolve = {plan_solve, run_solve, NULL, false},
                        sim_kernel_aclnnInverse = {plan_inverse, run_inverse, NULL, false},
                        sim_kernel_aclnnSlogdet = {plan_determinant, run_determinant, NULL, false},
                        sim_kernel_aclnnLogdet = {plan_determinant, run_determinant, NULL, false},
                        sim_kernel_aclnnLinalgQr = {plan_qr, run_qr, (void *)&no, false},
                        sim_kernel_aclnnQr = {plan_qr, run_qr, (void *)&yes, false};
