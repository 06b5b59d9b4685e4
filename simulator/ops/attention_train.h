/* Attention of training: a parsed call of FlashAttentionScore or of its gradient, which both share. */
#ifndef OPS_ATTENTION_TRAIN_H
#define OPS_ATTENTION_TRAIN_H

#include "attention.h"

/* A call; arguments that are absent are NULL, and views of absent ones are zero. */
struct sim_training {
    const aclsimCall *tr_call;
    const aclsimArgument *tr_lengths, *tr_kv_lengths; /* ends of batches, of packed operands only */
    const aclsimArgument *tr_prefix, *tr_drop;        /* tr_drop NULL: nothing is dropped */
    const char *tr_layout;
    bool tr_is_packed; /* TND: batches one after another */
    bool tr_is_sorted; /* packed, and the statistics of a batch are sorted by heads */
    int64_t tr_heads, tr_kv_heads, tr_batches;
    int64_t tr_mode; /* without a mask 1 */
    int64_t tr_first_live, tr_last_live; /* batches with queries and keys */
    double tr_kept;
    enum sim_attention_shift tr_shift;
    struct sim_attention_view tr_query, tr_key, tr_value, tr_query_rope, tr_key_rope;
    struct sim_attention_view tr_pse, tr_mask; /* tr_pse: shifts, or slopes */
    struct sim_attention_view tr_sinks; /* one number per head */
    struct sim_attention_view tr_most, tr_sum; /* results of the operator, arguments of the gradient */
};

/* A batch: its rows among those of the operands. */
struct sim_training_batch {
    int64_t ba_number;
    int64_t ba_place; /* in operands: 0 if they are packed */
    int64_t ba_first, ba_queries;
    int64_t ba_first_key, ba_keys;
    uint64_t ba_bit; /* its first bit of the dropout mask */
};

/* Parses a call, whose userData are the layouts of the operator. Returns 161001 or 161002 if arguments do not fit. */
aclnnStatus sim_attention_train_parse(const aclsimCall *call, struct sim_training *training);

/* The tensor of this name, which has the layout and type of the operands, the batches, heads and rows of `like`, and
 * `columns`. Returns 161001 if it is absent. */
aclnnStatus sim_attention_train_view(const struct sim_training *training, const char *name,
                                     const struct sim_attention_view *like, int64_t columns,
                                     struct sim_attention_view *view);

/* Goes on to the next batch; the first one comes after ba_number -1 in a struct of zeros. */
void sim_attention_train_step(const struct sim_training *training, struct sim_training_batch *batch);

/* Describes a query head of a batch, except its results. */
void sim_attention_train_head(const struct sim_training *training, const struct sim_training_batch *batch, int64_t n,
                              struct sim_attention_head *head);

/* The rows of one of its statistics. */
struct sim_attention_rows sim_attention_train_statistic(const struct sim_training *training,
                                                        const struct sim_attention_view *view,
                                                        const struct sim_training_batch *batch, int64_t n);

aclnnStatus sim_attention_score_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_attention_score_run(const aclsimCall *call);
aclnnStatus sim_attention_grad_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_attention_grad_run(const aclsimCall *call);

/* Kernels; the layouts are a text with a space before and after each. */
#define SIM_SCORE(name, layouts)                                                                                       \
    const struct sim_kernel sim_kernel_aclnn##name = {sim_attention_score_plan, sim_attention_score_run,               \
                                                      (void *)(layouts), false};
#define SIM_SCORE_GRAD(name, layouts)                                                                                  \
    const struct sim_kernel sim_kernel_aclnn##name = {sim_attention_grad_plan, sim_attention_grad_run,                 \
                                                      (void *)(layouts), false};
#define SIM_TRAIN_LAYOUTS " BSH SBH BSND BNSD "
#define SIM_TRAIN_PACKED " TND "

#endif
