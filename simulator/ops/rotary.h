/* Rotary positions: y = x * cos + turned(x) * sin, along the last dimension. */
#ifndef OPS_ROTARY_H
#define OPS_ROTARY_H

#include "line.h"
#include "operator/row.h"

/* What turned(x) is. For the last mode the elements with even indices go before those with odd ones first. */
enum sim_rotary {
    SIM_ROTARY_HALF,             /* -x2, x1 of halves */
    SIM_ROTARY_INTERLEAVE,       /* -x[1], x[0], -x[3], x[2] ... */
    SIM_ROTARY_QUARTER,          /* -x2, x1, -x4, x3 of quarters */
    SIM_ROTARY_INTERLEAVED_HALF, /* halves */
};
#define SIM_ROTARY_MODES 4

#define SIM_ROTARY_COLUMNS 1024 /* the most that an operator accepts */

/* Where element `c` of `count` ones of turned(x) comes from, and its sign; the last mode is that of halves here. */
static inline int64_t sim_rotary_from(enum sim_rotary mode, int64_t count, int64_t c, float *sign)
{
    const int64_t part = mode == SIM_ROTARY_INTERLEAVE ? 1 : mode == SIM_ROTARY_QUARTER ? count / 4 : count / 2;
    const bool is_first = c / part % 2 == 0;
    *sign = is_first ? -1.0f : 1.0f;
    return is_first ? c + part : c - part;
}

/* Puts elements with even indices first, or, for an inverse, back to where they were. */
void sim_rotary_regroup(float *to, const float *from, int64_t count, bool is_inverse);

/* Computes one line of `count` elements. */
void sim_rotary_turn(enum sim_rotary mode, int64_t count, const float *x, const float *cosines, const float *sines,
                     float *y);

/* Computes all lines of a tensor, which may be x itself; cos and sin are broadcast to it. The last dimension has an
 * even size of at most SIM_ROTARY_COLUMNS. */
void sim_rotary_run(enum sim_rotary mode, const aclsimTensor *y, const aclsimTensor *x, const aclsimTensor *cosines,
                    const aclsimTensor *sines);

/* The kernel of ApplyRotaryPosEmb; the version with a mode has one more argument. */
aclnnStatus sim_rotary_plan_apply(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_rotary_run_apply(const aclsimCall *call);

#endif
