/* Rotary positions: ApplyRotaryPosEmb turns queries and keys in place by tables of cosines and sines, InterleaveRope
 * one tensor; RopeWithSinCosCache with V2 takes the position of each token, and finds cosines and sines in a cache. All
 * compute in float, and round once. */
#include "rotary.h"

#include "base/fail.h"
#include "indices.h"
#include "report.h"
#include "require.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- lines ---- */

void sim_rotary_regroup(float *to, const float *from, int64_t count, bool is_inverse)
{
    for (int64_t c = 0; c < count; c++) {
        const int64_t other = c % 2 * (count / 2) + c / 2;
        if (is_inverse)
            to[c] = from[other];
        else
            to[other] = from[c];
    }
}

void sim_rotary_turn(enum sim_rotary mode, int64_t count, const float *x, const float *cosines, const float *sines,
                     float *y)
{
    float grouped[SIM_ROTARY_COLUMNS], sign;
    if (mode == SIM_ROTARY_INTERLEAVED_HALF) {
        sim_rotary_regroup(grouped, x, count, false);
        x = grouped;
    }
    for (int64_t c = 0; c < count; c++) {
        const float turned = x[sim_rotary_from(mode, count, c, &sign)];
        y[c] = x[c] * cosines[c] + sign * turned * sines[c];
    }
}

struct turn {
    enum sim_rotary tu_mode;
    int64_t tu_count;
    struct sim_line tu_y, tu_x, tu_cosines, tu_sines;
};

/* places: the addresses of a line of y, x, cos and sin. */
static aclError turn_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct turn *turn = context;
    float x[SIM_ROTARY_COLUMNS], cosines[SIM_ROTARY_COLUMNS], sines[SIM_ROTARY_COLUMNS], y[SIM_ROTARY_COLUMNS];
    for (int64_t i = 0; i < length; i++) {
        sim_line_load(&turn->tu_x, SIM_CLASS_FLOAT, places[1] + i * strides[1], x);
        sim_line_load(&turn->tu_cosines, SIM_CLASS_FLOAT, places[2] + i * strides[2], cosines);
        sim_line_load(&turn->tu_sines, SIM_CLASS_FLOAT, places[3] + i * strides[3], sines);
        sim_rotary_turn(turn->tu_mode, turn->tu_count, x, cosines, sines, y);
        sim_line_store(&turn->tu_y, SIM_CLASS_FLOAT, y, places[0] + i * strides[0]);
    }
    return ACL_SUCCESS;
}

void sim_rotary_run(enum sim_rotary mode, const aclsimTensor *y, const aclsimTensor *x, const aclsimTensor *cosines,
                    const aclsimTensor *sines)
{
    const aclsimTensor *const tensors[] = {y, x, cosines, sines};
    const uint32_t last = x->rank - 1;
    aclsimTensor lines[4];
    const aclsimTensor *walked[4];
    if (sim_walk_is_empty(x->dims, x->rank))
        return;
    struct turn turn = {
        .tu_mode = mode,
        .tu_count = x->dims[last],
        .tu_y = sim_line_of(y, last, 1),
        .tu_x = sim_line_of(x, last, 1),
        .tu_cosines = sim_line_of(cosines, last, 1),
        .tu_sines = sim_line_of(sines, last, 1),
    };
    for (size_t i = 0; i < 4; i++) {
        lines[i] = sim_line_without(tensors[i], last);
        walked[i] = &lines[i];
    }
    sim_walk_tensors(walked, 4, turn_lines, &turn);
}

/* ---- ApplyRotaryPosEmb: query, key, cos, sin, layout, and the mode since V2 ---- */

enum { QUERY, KEY, COS, SIN, LAYOUT, MODE };

static aclnnStatus mode_of(const aclsimCall *call, enum sim_rotary *mode)
{
    static const char *const names[] = {"half", "interleave", "quarter"};
    *mode = SIM_ROTARY_HALF;
    if (call->argumentCount <= MODE)
        return ACL_SUCCESS;
    const char *text = call->arguments[MODE].present ? call->arguments[MODE].text : names[0];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *mode = (enum sim_rotary)i;
            return ACL_SUCCESS;
        }
    sim_report_text(call->arguments[MODE].name, names[0]);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is \"%.40s\", expected half, interleave or quarter",
                      call->arguments[MODE].name, text);
}

/* Layouts: 1 BSND, 2 SBND, 3 BNSD. Cosines and sines have 1 head. */
aclnnStatus sim_rotary_plan_apply(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments, *query = &all[QUERY], *layout = &all[LAYOUT];
    const bool has_mode = call->argumentCount > MODE;
    const int64_t most = has_mode ? 3 : 1;
    enum sim_rotary mode;
    (void)workspace_size;
    SIM_TRY(mode_of(call, &mode));
    SIM_ARGUMENT(layout->integer >= 1 && layout->integer <= most, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected %s", layout->name, layout->integer, has_mode ? "1 to 3" : "1");
    const uint32_t heads = layout->integer == 3 ? 1 : 2;
    for (size_t i = QUERY; i <= SIN; i++) {
        SIM_TRY(sim_require_types(query, &all[i], SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_rank(&all[i], 4, 4));
        SIM_ARGUMENT(sim_walk_count(all[i].tensors) != 0, ACLNN_ERR_PARAM_INVALID,
                     "%s has no elements, expected 1 or more", all[i].name);
        aclsimTensor wanted = *query->tensors;
        wanted.dims[heads] = i == KEY ? all[KEY].tensors->dims[heads] : i == QUERY ? wanted.dims[heads] : 1;
        SIM_TRY(sim_require_shape(&all[i], wanted.dims, 4, "that of queryRef except the heads"));
    }
    const int64_t columns = query->tensors->dims[3], parts = mode == SIM_ROTARY_QUARTER ? 4 : 2;
    SIM_ARGUMENT(columns % parts == 0 && columns <= SIM_ROTARY_COLUMNS, ACLNN_ERR_PARAM_INVALID,
                 "dimension 3 of %s is %" PRId64 ", expected a multiple of %" PRId64 " up to %d", query->name, columns,
                 parts, SIM_ROTARY_COLUMNS);
    SIM_ARGUMENT(has_mode || columns == 128, ACLNN_ERR_PARAM_INVALID, "dimension 3 of %s is %" PRId64 ", expected 128",
                 query->name, columns);
    return ACL_SUCCESS;
}

aclError sim_rotary_run_apply(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    enum sim_rotary mode;
    SIM_TRY(mode_of(call, &mode));
    for (size_t i = QUERY; i <= KEY; i++)
        sim_rotary_run(mode, all[i].tensors, all[i].tensors, all[COS].tensors, all[SIN].tensors);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnApplyRotaryPosEmb = {sim_rotary_plan_apply, sim_rotary_run_apply, NULL, false};

/* ---- RopeWithSinCosCache ---- */

/* V2 also has a mode behind isNeoxStyle: how the columns of sections are arranged. */
enum { POSITIONS, QUERY_IN, KEY_IN, CACHE, SECTIONS, HEAD_SIZE, IS_NEOX, CACHE_MODE, SECOND_ARGUMENTS = 10 };
#define SECTION_COUNT 3

/* Query and key. */
static const aclsimArgument *outputs_of(const aclsimCall *call)
{
    return &call->arguments[call->argumentCount - 2];
}

/* Whether the cosines of a token belong to three positions; sections of size 0 mean one position. */
static bool has_sections(const aclsimArgument *sections)
{
    return sections->count == SECTION_COUNT &&
           (sections->integers[0] != 0 || sections->integers[1] != 0 || sections->integers[2] != 0);
}

static aclnnStatus check_sections(const aclsimArgument *sections, int64_t half)
{
    int64_t rest = half;
    if (sections->count != 0 && sections->count != SECTION_COUNT)
        sim_report_count(sections->name, 0);
    SIM_ARGUMENT(sections->count == 0 || sections->count == SECTION_COUNT, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " numbers, expected 0 or %d", sections->name, sections->count, SECTION_COUNT);
    if (!has_sections(sections))
        return ACL_SUCCESS;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const int64_t size = sections->integers[i];
        SIM_ARGUMENT(size >= 0 && size <= rest, ACLNN_ERR_PARAM_INVALID,
                     "%s[%zu] is %" PRId64 ", expected 0 to %" PRId64, sections->name, i, size, rest);
        rest -= size;
    }
    SIM_ARGUMENT(rest == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s has the sum %" PRId64 ", expected %" PRId64 ", half of the columns of cosSinCache", sections->name,
                 half - rest, half);
    return ACL_SUCCESS;
}

static aclnnStatus plan_cache(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments, *positions = &all[POSITIONS], *cache = &all[CACHE];
    const aclsimArgument *sections = &all[SECTIONS];
    const int64_t size = all[HEAD_SIZE].integer;
    const bool is_plain = call->argumentCount < SECOND_ARGUMENTS || all[CACHE_MODE].integer == 0;
    (void)workspace_size;
    if (!is_plain)
        sim_report_number(all[CACHE_MODE].name, 0);
    SIM_ARGUMENT(is_plain, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 0", all[CACHE_MODE].name,
                 all[CACHE_MODE].integer);
    SIM_TRY(sim_require_type(positions, SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_rank(positions, 1, 2));
    SIM_TRY(sim_require_types(&all[QUERY_IN], cache, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(cache, 2, 2));
    const int64_t columns = cache->tensors->dims[1];
    const int64_t tokens = positions->tensors->dims[positions->tensors->rank - 1];
    const bool fits = size > 0 && columns > 0 && columns % 2 == 0 && columns <= size && columns <= SIM_ROTARY_COLUMNS;
    if (!fits && size < 2)
        sim_report_number(all[HEAD_SIZE].name, 2);
    else if (!fits)
        sim_report_shape(cache->name, (const int64_t[]){cache->tensors->dims[0], 2}, 2);
    SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                 "dimension 1 of %s is %" PRId64 ", expected an even number up to headSize, %" PRId64 ", and %d",
                 cache->name, columns, size, SIM_ROTARY_COLUMNS);
    SIM_TRY(check_sections(sections, columns / 2));
    const uint32_t rank = positions->tensors->rank;
    SIM_ARGUMENT(has_sections(sections) ? rank == 2 && positions->tensors->dims[0] == SECTION_COUNT : rank == 1,
                 ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected %s", positions->name, rank,
                 has_sections(sections) ? "3 lines, one per section" : "1");
    for (size_t i = 0; i < 2; i++) {
        const aclsimArgument *in = &all[QUERY_IN + i], *out = &outputs_of(call)[i];
        SIM_TRY(sim_require_types(&all[QUERY_IN], in, SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_types(&all[QUERY_IN], out, SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_rank(in, 2, 2));
        const bool matches = in->tensors->dims[0] == tokens && in->tensors->dims[1] % size == 0;
        if (!matches)
            sim_report_shape(in->name, (const int64_t[]){tokens, size}, 2);
        SIM_ARGUMENT(matches, ACLNN_ERR_PARAM_INVALID,
                     "%s has shape [%" PRId64 ", %" PRId64 "], expected [%" PRId64 ", a multiple of %" PRId64 "]",
                     in->name, in->tensors->dims[0], in->tensors->dims[1], tokens, size);
        SIM_TRY(sim_require_shape(out, in->tensors->dims, 2, in->name));
    }
    return ACL_SUCCESS;
}

/* Loads the cosines and sines of a token: each half of the columns of the cache, spread over a head. */
static aclError load_token(const aclsimCall *call, int64_t token, float *cosines, float *sines)
{
    const aclsimArgument *all = call->arguments;
    const aclsimTensor *positions = all[POSITIONS].tensors, *cache = all[CACHE].tensors;
    const struct sim_indices rows =
        sim_indices_of(all[POSITIONS].name, positions, &all[CACHE], cache, 0, false);
    const int64_t half = cache->dims[1] / 2, tokens = positions->dims[positions->rank - 1];
    const struct sim_line line = sim_line_of(cache, 1, 1);
    float numbers[SIM_ROTARY_COLUMNS] = {0};
    int64_t section = -1, end = 0, offset;
    for (int64_t c = 0; c < half; c++) {
        while (c >= end) { /* the next section that is not empty; without sections all columns are one */
            section++;
            end = has_sections(&all[SECTIONS]) ? end + all[SECTIONS].integers[section] : half;
            if (!sim_indices_offset(&rows, sim_indices_nth(positions, section * tokens + token), &offset))
                return sim_indices_fail(&rows);
            sim_line_load(&line, SIM_CLASS_FLOAT, (const char *)cache->data + offset, numbers);
        }
        const bool is_neox = all[IS_NEOX].integer != 0;
        const int64_t one = is_neox ? c : 2 * c, other = is_neox ? half + c : one + 1;
        cosines[one] = cosines[other] = numbers[c];
        sines[one] = sines[other] = numbers[half + c];
    }
    return ACL_SUCCESS;
}

/* One token of query or key: the first columns of each head are turned, the others copied. */
static void turn_token(const aclsimCall *call, size_t which, int64_t token, const float *cosines, const float *sines)
{
    const int64_t size = call->arguments[HEAD_SIZE].integer, columns = call->arguments[CACHE].tensors->dims[1];
    const enum sim_rotary mode = call->arguments[IS_NEOX].integer != 0 ? SIM_ROTARY_HALF : SIM_ROTARY_INTERLEAVE;
    aclsimTensor from = *call->arguments[QUERY_IN + which].tensors, to = *outputs_of(call)[which].tensors;
    const int64_t heads = from.dims[1] / size;
    float x[SIM_ROTARY_COLUMNS], y[SIM_ROTARY_COLUMNS];
    if (heads == 0)
        return;
    if (token != 0) {
        sim_walk_advance(&from, token * from.strides[0]);
        sim_walk_advance(&to, token * to.strides[0]);
    }
    from = sim_line_without(&from, 0);
    to = sim_line_without(&to, 0);
    from.dims[0] = to.dims[0] = columns;
    const struct sim_line in = sim_line_of(&from, 0, 1), out = sim_line_of(&to, 0, 1);
    for (int64_t n = 0; n < heads; n++) {
        sim_line_load(&in, SIM_CLASS_FLOAT, from.data, x);
        sim_rotary_turn(mode, columns, x, cosines, sines, y);
        sim_line_store(&out, SIM_CLASS_FLOAT, y, to.data);
        if (columns < size) {
            aclsimTensor rest = from, copy = to;
            rest.dims[0] = copy.dims[0] = size - columns;
            sim_walk_advance(&rest, columns * rest.strides[0]);
            sim_walk_advance(&copy, columns * copy.strides[0]);
            sim_walk_copy(&copy, &rest);
        }
        if (n + 1 < heads) {
            sim_walk_advance(&from, size * from.strides[0]);
            sim_walk_advance(&to, size * to.strides[0]);
        }
    }
}

static aclError run_cache(const aclsimCall *call)
{
    const aclsimTensor *positions = call->arguments[POSITIONS].tensors;
    const int64_t tokens = positions->dims[positions->rank - 1];
    float cosines[SIM_ROTARY_COLUMNS], sines[SIM_ROTARY_COLUMNS];
    for (int64_t token = 0; token < tokens; token++) {
        SIM_TRY(load_token(call, token, cosines, sines));
        for (size_t i = 0; i < 2; i++)
            turn_token(call, i, token, cosines, sines);
    }
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnRopeWithSinCosCache = {plan_cache, run_cache, NULL, false};
const struct sim_kernel sim_kernel_aclnnRopeWithSinCosCacheV2 = {plan_cache, run_cache, NULL, false};

/* ---- InterleaveRope: x, cos, sin, out. x is [B, N, S, D]; cosines and sines have one head, and S or 1 positions. The
 * elements with even indices go before those with odd ones. ---- */

#define INTERLEAVED_COLUMNS 64 /* the only size that a card accepts */

static aclnnStatus plan_interleave(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *all = call->arguments, *x = &all[0];
    aclsimTensor wanted = *x->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_types(x, &all[3], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(x, 4, 4));
    wanted.dims[3] = INTERLEAVED_COLUMNS;
    SIM_TRY(sim_require_shape(x, wanted.dims, 4, "64 columns"));
    SIM_TRY(sim_require_shape(&all[3], wanted.dims, 4, "that of x"));
    wanted.dims[1] = 1;
    for (size_t i = 1; i <= 2; i++) {
        SIM_TRY(sim_require_same_type(&all[i], wanted.type, x->name));
        SIM_TRY(sim_require_rank(&all[i], 4, 4));
        if (i == 2 || all[i].tensors->dims[2] == 1)
            wanted.dims[2] = all[1].tensors->dims[2];
        SIM_TRY(sim_require_shape(&all[i], wanted.dims, 4, i == 1 ? "that of x with one head" : "that of cos"));
    }
    return ACL_SUCCESS;
}

static aclError run_interleave(const aclsimCall *call)
{
    const aclsimArgument *all = call->arguments;
    sim_rotary_run(SIM_ROTARY_INTERLEAVED_HALF, all[3].tensors, all[0].tensors, all[1].tensors, all[2].tensors);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnInterleaveRope = {plan_interleave, run_interleave, NULL, false};
