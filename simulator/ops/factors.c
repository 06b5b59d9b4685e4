/* Factors of matrices: LinalgCholesky and Svd. A matrix without such factors is not an error: that of a matrix that is
 * not positive definite has NaN, and so have all those of a matrix with an element that is not finite. */
#include "base/fail.h"
#include "matrices.h"
#include "operator/row.h"
#include "require.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- LinalgCholesky: self, upper, out ---- */

static aclnnStatus plan_cholesky(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[2];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_BF16)));
    SIM_TRY(sim_matrices_require_square(self));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

/* The views are the factor and self, of which only the triangle of the factor is read. An upper factor is the
 * transposed lower one of the transposed matrix. */
static void find_triangle(struct sim_matrices *job)
{
    const bool upper = job->ma_given[1].integer != 0;
    const aclsimTensor *views = job->ma_views;
    const aclsimTensor out = upper ? sim_matrices_transposed(&views[0]) : views[0];
    const aclsimTensor self = upper ? sim_matrices_transposed(&views[1]) : views[1];
    const int64_t size = self.dims[0];
    sim_matrices_load(job, &self, job->ma_values);
    for (int64_t i = 0; i < size; i++) {
        double *row = job->ma_values + i * size;
        for (int64_t j = 0; j <= i; j++) {
            const double *before = job->ma_values + j * size;
            double rest = row[j];
            for (int64_t k = 0; k < j; k++)
                rest -= row[k] * before[k];
            row[j] = j == i ? sqrt(rest) : rest / before[j];
        }
        memset(row + i + 1, 0, (size_t)(size - i - 1) * sizeof *row);
    }
    sim_matrices_store(job, &out, job->ma_values);
}

static aclError run_cholesky(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 2};
    const aclsimTensor *self = call->arguments[0].tensors, *const tensors[] = {call->arguments[2].tensors, self};
    const int64_t size = self->dims[self->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, find_triangle);
    return sim_matrices_run(&job, tensors, ranks, 2, size, size);
}

/* ---- Svd: input, fullMatrices, computeUV, sigma, u, v ----
 *
 * The one-sided Jacobi algorithm. The columns of the matrix, or the rows if these are fewer, are rotated in pairs until
 * all of them are orthogonal. Their lengths are then the singular values, and the vectors of length 1 in their
 * directions are the singular vectors of one side. The conjugate rotations of an identity matrix make those of the
 * other side. So the input is u * diag(sigma) * v^T, also if it is complex. */

#define SWEEPS 60 /* the most; about 10 are enough */

/* Each vector has `length` contiguous elements.
 *
 * rotate: makes vectors i and j orthogonal, and does the conjugate of this to those of `turns`, if it is not NULL.
 * Returns false if they were orthogonal, or if one of them is so short that it counts as 0.
 * complete: makes vector number `known` of length 1 and orthogonal to those before it: what is left of the axis that
 * these cover least. The projections are subtracted twice, because rounding errors remain the first time. */
#define JACOBI(name, element, magnitude, real, conjugate)                                                              \
    static element product_##name(const element *one, const element *other, int64_t length)                            \
    {                                                                                                                  \
        element sum = 0;                                                                                               \
        for (int64_t k = 0; k < length; k++)                                                                           \
            sum += conjugate(one[k]) * other[k];                                                                       \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static double length_##name(const element *vector, int64_t length)                                                 \
    {                                                                                                                  \
        return sqrt(real(product_##name(vector, vector, length)));                                                     \
    }                                                                                                                  \
    static void turn_##name(element *one, element *other, int64_t length, double tangent, element phase)               \
    {                                                                                                                  \
        const double cosine = 1 / hypot(1, tangent), sine = cosine * tangent;                                          \
        for (int64_t k = 0; k < length; k++) {                                                                         \
            const element first = one[k], second = other[k] * phase;                                                   \
            one[k] = cosine * first - sine * second;                                                                   \
            other[k] = sine * first + cosine * second;                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static bool rotate_##name(element *vectors, element *turns, int64_t i, int64_t j, int64_t count, int64_t length,   \
                              double least)                                                                            \
    {                                                                                                                  \
        element *one = vectors + i * length, *other = vectors + j * length;                                            \
        const element between = product_##name(one, other, length);                                                    \
        const double size = magnitude(between), first = length_##name(one, length),                                    \
                     second = length_##name(other, length);                                                            \
        if (!(size > DBL_EPSILON * (double)length * first * second) || fmin(first, second) <= least)                   \
            return false;                                                                                              \
        const double half = (second - first) * (second + first) / (2 * size);                                          \
        const double tangent = copysign(1, half) / (fabs(half) + hypot(1, half));                                      \
        const element phase = conjugate(between) / size;                                                               \
        turn_##name(one, other, length, tangent, phase);                                                               \
        if (turns != NULL)                                                                                             \
            turn_##name(turns + i * count, turns + j * count, count, tangent, conjugate(phase));                       \
        return true;                                                                                                   \
    }                                                                                                                  \
    static void orthogonalise_##name(element *vectors, element *turns, int64_t count, int64_t length, double least,    \
                                     double *lengths)                                                                  \
    {                                                                                                                  \
        bool changed = true;                                                                                           \
        for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {                                                      \
            changed = false;                                                                                           \
            for (int64_t i = 0; i < count; i++)                                                                        \
                for (int64_t j = i + 1; j < count; j++)                                                                \
                    changed |= rotate_##name(vectors, turns, i, j, count, length, least);                              \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            lengths[i] = length_##name(vectors + i * length, length);                                                  \
    }                                                                                                                  \
    static void complete_##name(element *vectors, int64_t known, int64_t length)                                       \
    {                                                                                                                  \
        element *to = vectors + known * length;                                                                        \
        int64_t axis = 0;                                                                                              \
        double least = INFINITY;                                                                                       \
        for (int64_t k = 0; k < length; k++) {                                                                         \
            double covered = 0;                                                                                        \
            for (int64_t i = 0; i < known; i++)                                                                        \
                covered += real(conjugate(vectors[i * length + k]) * vectors[i * length + k]);                         \
            axis = covered < least ? k : axis;                                                                         \
            least = fmin(covered, least);                                                                              \
        }                                                                                                              \
        memset(to, 0, (size_t)length * sizeof *to);                                                                    \
        to[axis] = 1;                                                                                                  \
        for (int64_t i = 0; i < 2 * known; i++) {                                                                      \
            const element *vector = vectors + i % known * length, part = product_##name(vector, to, length);           \
            for (int64_t k = 0; k < length; k++)                                                                       \
                to[k] -= part * vector[k];                                                                             \
        }                                                                                                              \
        const double size = length_##name(to, length);                                                                 \
        for (int64_t k = 0; k < length; k++)                                                                           \
            to[k] /= size;                                                                                             \
    }

JACOBI(reals, double, fabs, , )
JACOBI(pairs, sim_pair, cabs, creal, conj)

static aclnnStatus plan_svd(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *input = &given[0], *sigma = &given[3];
    const aclDataType type = input->tensors->type;
    const bool full = given[1].integer != 0, has_vectors = given[2].integer != 0;
    const uint64_t types = SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_DOUBLE) | SIM_TYPES_COMPLEX;
    int64_t dims[SIM_RANK];
    (void)workspace_size;
    for (int i = 4; i < 6; i++)
        SIM_TRY(sim_require_types(input, &given[i], types));
    /* The document wants the type of the input here, too; PyTorch's singular values of complex matrices are real. */
    const aclDataType real = type == ACL_COMPLEX64 ? ACL_FLOAT : type == ACL_COMPLEX128 ? ACL_DOUBLE : type;
    if (sigma->tensors->type != real)
        SIM_TRY(sim_require_same_type(sigma, type, input->name));
    SIM_TRY(sim_require_rank(input, 2, SIM_RANK));
    SIM_TRY(sim_matrices_require_elements(input));
    const uint32_t rank = input->tensors->rank;
    memcpy(dims, input->tensors->dims, sizeof dims);
    const int64_t rows = dims[rank - 2], columns = dims[rank - 1], least = rows < columns ? rows : columns;
    dims[rank - 2] = least;
    SIM_TRY(sim_require_shape(sigma, dims, rank - 1, "one singular value per row or column"));
    for (int i = 4; has_vectors && i < 6; i++) { /* if they are not wanted, PyTorch passes tensors without elements */
        dims[rank - 2] = i == 4 ? rows : columns;
        dims[rank - 1] = full ? dims[rank - 2] : least;
        SIM_TRY(sim_require_shape(&given[i], dims, rank, "that of the singular vectors"));
    }
    return ACL_SUCCESS;
}

/* What the values are divided by so that their squares fit a double; NaN if one is not finite. */
static double scale_of(const double *values, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return NAN;
        largest = fmax(largest, fabs(values[i]));
    }
    return largest == 0 ? 1 : largest;
}

/* Sorts the vectors, and those at the same places of `turns`, by descending lengths. */
static void sort_vectors(double *lengths, double *vectors, double *turns, int64_t count, int64_t elements,
                         int64_t turned)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t longest = i;
        for (int64_t j = i + 1; j < count; j++)
            if (lengths[j] > lengths[longest])
                longest = j;
        if (longest == i)
            continue;
        sim_matrices_swap(&lengths[i], &lengths[longest], sizeof *lengths);
        sim_matrices_swap(vectors + i * elements, vectors + longest * elements, (size_t)elements * sizeof *vectors);
        if (turns != NULL)
            sim_matrices_swap(turns + i * turned, turns + longest * turned, (size_t)turned * sizeof *turns);
    }
}

/* The views are the input, sigma, u and v; the last two are absent if they are not wanted. */
static void find_singular(struct sim_matrices *job)
{
    const aclsimTensor *views = job->ma_views;
    const bool is_tall = views[0].dims[0] >= views[0].dims[1], has_vectors = views[2].data != NULL;
    const aclsimTensor input = is_tall ? sim_matrices_transposed(&views[0]) : views[0];
    const aclsimTensor longer = sim_matrices_transposed(&views[is_tall ? 2 : 3]),
                       shorter = sim_matrices_transposed(&views[is_tall ? 3 : 2]), sigma = sim_matrices_row(&views[1]);
    const bool pairs = sim_matrices_complex(job);
    const int64_t count = input.dims[0], length = input.dims[1], width = sim_matrices_width(job);
    const int64_t wide = has_vectors ? longer.dims[0] : count, elements = count * length * width;
    double *vectors = job->ma_values, *lengths = vectors + wide * length * width, squares = 0;
    double *turns = has_vectors ? lengths + count * width : NULL; /* aligned for pairs */
    sim_matrices_load(job, &input, vectors);
    if (has_vectors)
        sim_matrices_identity(job, turns, count, count);
    const double scale = scale_of(vectors, elements);
    for (int64_t i = 0; i < elements; i++) {
        vectors[i] /= scale;
        squares += vectors[i] * vectors[i];
    }
    for (int64_t i = 0; isnan(scale) && has_vectors && i < count * count * width; i++)
        turns[i] = NAN;
    const double least = DBL_EPSILON * sqrt(squares);
    if (pairs)
        orthogonalise_pairs((sim_pair *)vectors, (sim_pair *)turns, count, length, least, lengths);
    else
        orthogonalise_reals(vectors, turns, count, length, least, lengths);
    sort_vectors(lengths, vectors, turns, count, length * width, count * width);
    for (int64_t i = 0; has_vectors && i < wide; i++) {
        if (i < count && !(lengths[i] <= least))
            for (int64_t k = i * length * width; k < (i + 1) * length * width; k++)
                vectors[k] /= lengths[i];
        else if (pairs)
            complete_pairs((sim_pair *)vectors, i, length);
        else
            complete_reals(vectors, i, length);
    }
    if (has_vectors) {
        sim_matrices_store(job, &longer, vectors);
        sim_matrices_store(job, &shorter, turns);
    }
    for (int64_t i = 0; i < count; i++)
        lengths[i] *= scale;
    const struct sim_matrices reals = {.ma_class = SIM_CLASS_DOUBLE};
    sim_matrices_store(&reals, &sigma, lengths);
}

static aclError run_svd(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 1, 2, 2};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[0].tensors, *const tensors[] = {input, given[3].tensors, given[4].tensors,
                                                                      given[5].tensors};
    const bool full = given[1].integer != 0, has_vectors = given[2].integer != 0;
    const int64_t rows = input->dims[input->rank - 2], columns = input->dims[input->rank - 1];
    const int64_t count = rows < columns ? rows : columns, length = rows < columns ? columns : rows;
    struct sim_matrices job = sim_matrices_of(call, find_singular);
    return sim_matrices_run(&job, tensors, ranks, has_vectors ? 4 : 2, length, (full ? length : count) + count + 1);
}

const struct sim_kernel sim_kernel_aclnnLinalgCholesky = {plan_cholesky, run_cholesky, NULL, false},
                        sim_kernel_aclnnSvd = {plan_svd, run_svd, NULL, false};
