/* Attention, as all its operators share it: out = softmax(scale * query @ key^T + shift) @ value, per batch and head.
 *
 * A family of operators (attention_infer.c, attention_score.c, attention_grad.c) turns its arguments into views, and
 * describes each head of each batch in a struct sim_attention_head. The frame runs over blocks of queries and, inside,
 * over blocks of keys, in float, with the running maximum and sum of each row, so that the memory that it needs does
 * not depend on the lengths. The versions of an operator have the same parameters in different places; therefore
 * arguments are found by name. */
#ifndef OPS_ATTENTION_H
#define OPS_ATTENTION_H

#include "base/fail.h"
#include "operator/row.h"
#include "require.h"
#include "walk.h"

/* ---- arguments ---- */

/* The argument with this name, which may end in "Optional" beside; NULL if it is absent or the operator lacks it. */
const aclsimArgument *sim_attention_argument(const aclsimCall *call, const char *name);
/* The value of such an argument; `missing` if the operator lacks it. */
int64_t sim_attention_integer(const aclsimCall *call, const char *name, int64_t missing);
double sim_attention_number(const aclsimCall *call, const char *name, double missing);
/* The same for an array; an empty one counts as absent. */
const aclsimArgument *sim_attention_array(const aclsimCall *call, const char *name);

/* The text of inputLayout, BSH if it is absent. Returns 161002 unless it is one of the words of `layouts`, which have a
 * space before and after each. */
aclnnStatus sim_attention_layout(const aclsimCall *call, const char *layouts, const char **layout);

/* The first number of such an array, cut to SIM_ATTENTION_FAR; 0 if it is absent. */
int64_t sim_attention_start(const aclsimCall *call, const char *name);

/* ---- operands ---- */

/* A tensor as rows per batch and head: sizes and strides in elements. A stride is 0 where the size is 1. */
struct sim_attention_view {
    char *vi_data; /* NULL: there is no such operand, or the first phase */
    aclDataType vi_type;
    int64_t vi_batches, vi_heads, vi_rows, vi_columns;
    int64_t vi_batch, vi_head, vi_row, vi_column;
};

/* Some rows of one head. */
struct sim_attention_rows {
    char *ro_place;
    aclDataType ro_type;
    int64_t ro_row, ro_column;
};

/* Reads a tensor by a layout: B is the batch, N the head, S or T the row, D the column, and H are all heads with their
 * columns; the layout ends at "_". Returns 161002 if the tensor does not have these dimensions. */
aclnnStatus sim_attention_view(const char *name, const aclsimTensor *tensor, const char *layout, int64_t heads,
                               struct sim_attention_view *view);
/* The same for a tensor of any rank whose dimensions have these letters, such as a mask; others have the size 1. */
struct sim_attention_view sim_attention_spread(const aclsimTensor *tensor, const char *layout);
struct sim_attention_rows sim_attention_rows_at(const struct sim_attention_view *view, int64_t batch, int64_t head,
                                                int64_t row);

/* The keys or the values of one head: a prefix that all batches share, then rows of a batch, or rows in pages. */
struct sim_attention_source {
    struct sim_attention_view so_view;
    struct sim_attention_view so_scale, so_offset; /* of integers: (number + offset) * scale; either may be absent */
    struct sim_attention_view so_prefix;
    int64_t so_prefix_rows;
    int64_t so_batch, so_head, so_first; /* so_first: the first row, which the prefix does not count */
    struct sim_attention_view so_table;  /* pages of the batches, one batch per row; absent: no pages */
};

/* Returns the code of a failed task, with a reason, if a page of the first `rows` rows is out of range. */
aclError sim_attention_check_pages(const struct sim_attention_source *source, int64_t rows, const char *name);

/* ---- one head ---- */

enum sim_attention_shift { /* the score of a query and a key whose product is p: */
    SIM_SHIFT_NOT,         /* scale * p */
    SIM_SHIFT_AFTER,       /* scale * p + shift */
    SIM_SHIFT_BEFORE,      /* scale * (p + shift) */
    SIM_SHIFT_LINEAR,      /* scale * p - slope * distance */
    SIM_SHIFT_ROOT,        /* scale * p - slope * sqrt(distance) */
};

#define SIM_ATTENTION_FAR (INT64_C(1) << 40) /* the most rows of an operand; limits of bands are cut to it */

struct sim_attention_head {
    int64_t he_queries, he_keys, he_width; /* he_width: columns of the values */
    struct sim_attention_rows he_query, he_query_rope;
    struct sim_attention_source he_key, he_key_rope, he_value;
    int64_t he_plain, he_rope; /* columns of query and key, and of their parts with rotary positions */
    float he_scale;
    enum sim_attention_shift he_shift;
    struct sim_attention_rows he_pse;
    float he_slope;
    int64_t he_apart;                /* the position of query 0 minus that of key 0 */
    struct sim_attention_rows he_mask; /* place NULL: none; an element that is not 0 hides a key */
    int64_t he_first, he_last;       /* query i sees the keys from i + he_first to i + he_last, */
    int64_t he_shared;               /* and those before this one */
    bool he_has_sink;
    float he_sink;                   /* one more score without a value */
    struct sim_attention_rows he_drop; /* bits, the lowest of a byte first; place NULL: no dropout */
    uint64_t he_bit;                 /* the bit of query 0 and key 0 */
    float he_kept;                   /* the factor of what is kept */
    struct sim_attention_rows he_out, he_lse, he_most, he_sum; /* the last three may have no place */
    struct sim_attention_rows he_quant, he_quant_offset;       /* of an int8 result */
};

#define SIM_ATTENTION_QUERIES 16
#define SIM_ATTENTION_KEYS 64
#define SIM_ATTENTION_COPIES 8 /* of each statistic of training */
#define SIM_ATTENTION_MASK 2048 /* the rows and columns of a compressed mask */
#define SIM_ATTENTION_DEPTH 768 /* the most columns that operators accept */

/* The memory in which heads are computed. */
struct sim_attention_tile {
    float ti_queries[SIM_ATTENTION_QUERIES][SIM_ATTENTION_DEPTH];
    float ti_outs[SIM_ATTENTION_QUERIES][SIM_ATTENTION_DEPTH];
    float ti_keys[SIM_ATTENTION_DEPTH][SIM_ATTENTION_KEYS]; /* transposed */
    float ti_values[SIM_ATTENTION_KEYS][SIM_ATTENTION_DEPTH];
    float ti_line[SIM_ATTENTION_DEPTH], ti_other[SIM_ATTENTION_DEPTH];
    float ti_scores[SIM_ATTENTION_KEYS], ti_numbers[SIM_ATTENTION_KEYS];
    float ti_most[SIM_ATTENTION_QUERIES];
    double ti_sums[SIM_ATTENTION_QUERIES];
};

/* Allocates a tile, which the caller frees. Returns 207001 if there is no memory. */
aclError sim_attention_reserve(struct sim_attention_tile **tile);

/* Computes the outputs of one head. */
void sim_attention_forward(const struct sim_attention_head *head, struct sim_attention_tile *tile);

/* ---- parts of that ---- */

void sim_attention_load(const struct sim_attention_rows *rows, int64_t row, int64_t count, float *numbers);
void sim_attention_store(const struct sim_attention_rows *rows, int64_t row, int64_t count, const float *numbers);
/* The number of keys of the block that begins at a key. */
int64_t sim_attention_block(const struct sim_attention_head *head, int64_t key);
/* Load query `i` (of the head) as row `at` of the tile; a block of keys and values. */
void sim_attention_load_query(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t i,
                              size_t at);
void sim_attention_load_keys(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t key,
                             int64_t count);
/* Writes the scores of query i, row `at` of the tile, with the keys of the block to ti_scores; -inf: masked. */
void sim_attention_score(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t i, size_t at,
                         int64_t key, int64_t count);
/* The factor of the weight of query i and a key: he_kept, or 0 if it is dropped. */
float sim_attention_kept(const struct sim_attention_head *head, int64_t i, int64_t key);

/* ---- bands ---- */

/* Sets he_first and he_last for sparse mode 0 to 4 with the lengths of the head. */
void sim_attention_set_band(struct sim_attention_head *head, int64_t mode, int64_t before, int64_t after);

#endif
