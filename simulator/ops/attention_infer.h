/* Attention of inference: a parsed call, which its files share. attention_infer_parse.c reads layouts, lengths, masks
 * and shifts, attention_infer_scale.c the numbers of int8 caches and results, and attention_infer.c runs the call. */
#ifndef OPS_ATTENTION_INFER_H
#define OPS_ATTENTION_INFER_H

#include "attention.h"

#define SIM_INFER_DEPTH 512 /* the most columns of a head */

/* What the versions of an operator differ in. */
struct sim_infer_kind {
    const char *ik_layouts; /* with a space before and after each */
    bool ik_is_step;        /* one query per batch, and actualSeqLengths are those of the keys */
};
#define SIM_INFER_LAYOUTS                                                                                              \
    " BSH BSND BNSD TND NTD BNSD_BSND BSH_NBSD BSND_NBSD BNSD_NBSD TND_NTD NTD_TND " /* since V3 */

/* A call; arguments that are absent are NULL, and views of absent ones are zero. */
struct sim_infer {
    const aclsimCall *in_call;
    const aclsimArgument *in_key, *in_value, *in_out, *in_lse;
    const aclsimArgument *in_lengths, *in_kv_lengths, *in_table;
    const char *in_layout, *in_kv_layout, *in_out_layout;
    bool in_is_packed; /* TND or NTD: batches one after another */
    bool in_is_single; /* one query per batch: there is no band */
    int64_t in_heads, in_kv_heads, in_batches;
    int64_t in_mode; /* 0: mask and band, 1: mask, 2 to 4: band; without a mask 1 */
    struct sim_attention_view in_queries, in_outs, in_lses;
    struct sim_attention_view in_query_rope, in_key_rope;
    enum sim_attention_shift in_kind;
    struct sim_attention_view in_shift, in_mask; /* the columns are keys */
    struct sim_attention_view in_slopes, in_sinks; /* one number per head */
    struct sim_attention_view in_key_prefix, in_value_prefix;
    int64_t in_prefix; /* rows of them */
    struct sim_attention_view in_key_scale, in_key_offset, in_value_scale, in_value_offset;
    struct sim_attention_view in_quant, in_quant_offset;
};

/* A batch: its rows among those of the operands. */
struct sim_infer_batch {
    struct sim_attention_view ba_key, ba_value;
    int64_t ba_first, ba_queries;
    int64_t ba_first_key, ba_keys; /* without the prefix */
};

/* Parses a call, and one of its batches. Both return 161002 if arguments do not fit together. */
aclnnStatus sim_attention_infer_parse(const aclsimCall *call, struct sim_infer *infer);
aclnnStatus sim_attention_infer_batch(const struct sim_infer *infer, int64_t number, struct sim_infer_batch *batch);
/* The part of parsing that concerns scales and offsets. */
aclnnStatus sim_attention_infer_scales(struct sim_infer *infer);

/* The kernel of an operator whose userData is its kind. */
aclnnStatus sim_attention_infer_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_attention_infer_run(const aclsimCall *call);

#define SIM_INFER(name, kind)                                                                                          \
    const struct sim_kernel sim_kernel_aclnn##name = {sim_attention_infer_plan, sim_attention_infer_run,               \
                                                      (void *)&(kind), false};

#endif
