/* Parsing of a call of inference attention.
 *
 * Everything that decides which elements are read is known in the first phase, except the blocks of a paged cache and
 * the padding before the rows, which are tensors: they are checked when the operator runs. */
#include "attention_infer.h"

#include "base/bytes.h"
#include "report.h"
#include <inttypes.h>
#include <string.h>

#define MOST_RATIO 64 /* query heads per head of the keys */
#define MOST_BATCHES 65536
#define BYTES (SIM_TYPES_BOOL | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8))

/* ---- layouts and heads ---- */

static aclnnStatus parse_layout(struct sim_infer *infer)
{
    const struct sim_infer_kind *kind = infer->in_call->userData;
    SIM_TRY(sim_attention_layout(infer->in_call, kind->ik_layouts, &infer->in_layout));
    const char *other = strchr(infer->in_layout, '_');
    infer->in_kv_layout = infer->in_layout;
    infer->in_out_layout = other == NULL ? infer->in_layout : other + 1;
    infer->in_is_packed = strchr("TN", infer->in_layout[0]) != NULL;
    return ACL_SUCCESS;
}

static aclnnStatus parse_heads(struct sim_infer *infer)
{
    const int64_t heads = sim_attention_integer(infer->in_call, "numHeads", 0);
    const int64_t kv_heads = sim_attention_integer(infer->in_call, "numKeyValueHeads", 0);
    if (heads <= 0)
        sim_report_number("numHeads", 1);
    SIM_ARGUMENT(heads > 0, ACLNN_ERR_PARAM_INVALID, "numHeads is %" PRId64 ", expected 1 or more", heads);
    if (kv_heads != 0)
        sim_report_number("numKeyValueHeads", 0);
    SIM_ARGUMENT(kv_heads >= 0 && (kv_heads == 0 || heads % kv_heads == 0), ACLNN_ERR_PARAM_INVALID,
                 "numKeyValueHeads is %" PRId64 ", expected 0 or a divisor of numHeads, %" PRId64, kv_heads, heads);
    infer->in_heads = heads;
    infer->in_kv_heads = kv_heads == 0 ? heads : kv_heads;
    SIM_ARGUMENT(heads / infer->in_kv_heads <= MOST_RATIO, ACLNN_ERR_PARAM_INVALID,
                 "numKeyValueHeads is %" PRId64 ", expected at least 1 per %d of the %" PRId64 " heads in numHeads",
                 kv_heads, MOST_RATIO, heads);
    return ACL_SUCCESS;
}

static aclnnStatus parse_query(struct sim_infer *infer)
{
    const struct sim_infer_kind *kind = infer->in_call->userData;
    const aclsimArgument *query = sim_attention_argument(infer->in_call, "query");
    SIM_TRY(sim_require_type(query, SIM_TYPES_HALF));
    SIM_TRY(sim_attention_view(query->name, query->tensors, infer->in_layout, infer->in_heads, &infer->in_queries));
    const struct sim_attention_view *view = &infer->in_queries;
    SIM_ARGUMENT(view->vi_columns > 0 && view->vi_columns <= SIM_INFER_DEPTH && view->vi_columns % 16 == 0,
                 ACLNN_ERR_PARAM_INVALID,
                 "query has heads of %" PRId64 " columns, expected a multiple of 16 up to %d", view->vi_columns,
                 SIM_INFER_DEPTH);
    infer->in_is_single = !infer->in_is_packed && view->vi_rows == 1;
    SIM_ARGUMENT(!kind->ik_is_step || infer->in_is_single, ACLNN_ERR_PARAM_INVALID,
                 "query has %" PRId64 " rows per batch, expected 1", view->vi_rows);
    infer->in_lengths = kind->ik_is_step ? NULL : sim_attention_array(infer->in_call, "actualSeqLengths");
    infer->in_kv_lengths =
        sim_attention_array(infer->in_call, kind->ik_is_step ? "actualSeqLengths" : "actualSeqLengthsKv");
    SIM_ARGUMENT(!infer->in_is_packed || infer->in_lengths != NULL, ACLNN_ERR_PARAM_INVALID,
                 "actualSeqLengths is absent, expected the ends of the batches for layout %s", infer->in_layout);
    infer->in_batches = infer->in_is_packed ? (int64_t)infer->in_lengths->count : view->vi_batches;
    SIM_ARGUMENT(infer->in_batches <= MOST_BATCHES, ACLNN_ERR_PARAM_INVALID,
                 "query has %" PRId64 " batches, expected at most %d", infer->in_batches, MOST_BATCHES);
    return ACL_SUCCESS;
}

/* ---- keys and values ---- */

/* The layout of a cache in blocks: the blocks take the place of batches. */
static aclnnStatus parse_table(struct sim_infer *infer)
{
    const aclsimCall *call = infer->in_call;
    const aclsimTensor *key = infer->in_key->tensors;
    const int64_t size = sim_attention_integer(call, "blockSize", 0), step = infer->in_is_single ? 16 : 128;
    infer->in_table = sim_attention_argument(call, "blockTable");
    infer->in_table = infer->in_table == NULL ? sim_attention_argument(call, "blocktable") : infer->in_table;
    if (infer->in_table == NULL)
        return ACL_SUCCESS;
    const aclsimTensor *table = infer->in_table->tensors;
    SIM_TRY(sim_require_type(infer->in_table, SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_rank(infer->in_table, 2, 2));
    SIM_ARGUMENT(table->dims[0] == infer->in_batches, ACLNN_ERR_PARAM_INVALID,
                 "dimension 0 of %s is %" PRId64 ", expected %" PRId64 ", the number of batches", infer->in_table->name,
                 table->dims[0], infer->in_batches);
    SIM_ARGUMENT(infer->in_kv_lengths != NULL, ACLNN_ERR_PARAM_INVALID,
                 "the lengths of the keys are absent, expected those of all batches beside %s", infer->in_table->name);
    SIM_ARGUMENT(key->rank != 5, ACLNN_ERR_PARAM_INVALID,
                 "key has 5 dimensions, but the simulator does not support caches in the NZ format");
    infer->in_kv_layout = key->rank == 3 ? "BSH" : "BNSD";
    SIM_ARGUMENT(size > 0 && size <= 512 && size % step == 0, ACLNN_ERR_PARAM_INVALID,
                 "blockSize is %" PRId64 ", expected a multiple of %" PRId64 " up to 512", size, step);
    return ACL_SUCCESS;
}

/* Finds the key or value of a batch: a member of the list, or a batch of its only tensor. */
static aclnnStatus view_of(const struct sim_infer *infer, const aclsimArgument *list, int64_t number,
                           struct sim_attention_view *view)
{
    const aclsimTensor *tensor = &list->tensors[list->count > 1 ? number : 0];
    const bool is_paged = infer->in_table != NULL;
    SIM_TRY(sim_require_same_type(list, infer->in_key->tensors->type, "key"));
    SIM_ARGUMENT(tensor->type == list->tensors->type, ACLNN_ERR_PARAM_INVALID,
                 "%s[%" PRId64 "] has another data type than %s[0]", list->name, number, list->name);
    SIM_TRY(sim_attention_view(list->name, tensor, infer->in_kv_layout, infer->in_kv_heads, view));
    const int64_t batches = list->count > 1 || infer->in_is_packed ? 1 : infer->in_batches;
    SIM_ARGUMENT(is_paged || view->vi_batches == batches, ACLNN_ERR_PARAM_INVALID,
                 "%s[%" PRId64 "] has %" PRId64 " batches, expected %" PRId64, list->name,
                 list->count > 1 ? number : 0, view->vi_batches, batches);
    const int64_t size = sim_attention_integer(infer->in_call, "blockSize", 0);
    SIM_ARGUMENT(!is_paged || view->vi_rows == size, ACLNN_ERR_PARAM_INVALID,
                 "%s has blocks of %" PRId64 " rows, expected %" PRId64 ", the blockSize", list->name, view->vi_rows,
                 size);
    return ACL_SUCCESS;
}

static aclnnStatus parse_lists(struct sim_infer *infer)
{
    const aclsimArgument *lists[] = {infer->in_key, infer->in_value};
    SIM_TRY(sim_require_type(infer->in_key, SIM_TYPE(infer->in_queries.vi_type) | SIM_TYPE(ACL_INT8)));
    for (size_t i = 0; i < 2; i++)
        SIM_ARGUMENT(lists[i]->count == 1 || (lists[i]->count == (uint64_t)infer->in_batches && infer->in_table == NULL
                                              && !infer->in_is_packed),
                     ACLNN_ERR_PARAM_INVALID, "%s has %" PRIu64 " tensors, expected 1 or, without blocks, %" PRId64
                     ", one per batch", lists[i]->name, lists[i]->count, infer->in_batches);
    SIM_ARGUMENT(lists[0]->count == lists[1]->count, ACLNN_ERR_PARAM_INVALID,
                 "value has %" PRIu64 " tensors, expected %" PRIu64 ", as many as key", lists[1]->count,
                 lists[0]->count);
    return ACL_SUCCESS;
}

/* ---- batches ---- */

/* A length in an array with one number for all batches, or one per batch. */
static aclnnStatus length_of(const struct sim_infer *infer, const aclsimArgument *lengths, int64_t number, int64_t most,
                             int64_t *length)
{
    SIM_ARGUMENT(lengths->count == 1 || lengths->count >= (uint64_t)infer->in_batches, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " numbers, expected 1 or %" PRId64, lengths->name, lengths->count,
                 infer->in_batches);
    const int64_t place = lengths->count == 1 ? 0 : number;
    *length = lengths->integers[place];
    SIM_ARGUMENT(*length >= 0 && *length <= most, ACLNN_ERR_PARAM_INVALID,
                 "%s[%" PRId64 "] is %" PRId64 ", expected 0 to %" PRId64, lengths->name, place, *length, most);
    return ACL_SUCCESS;
}

/* A batch in an array with the ends of all batches. */
static aclnnStatus ends_of(const struct sim_infer *infer, const aclsimArgument *ends, int64_t number, int64_t rows,
                           int64_t *first, int64_t *length)
{
    SIM_ARGUMENT(ends->count == (uint64_t)infer->in_batches, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " numbers, expected %" PRId64 ", one per batch", ends->name, ends->count,
                 infer->in_batches);
    const int64_t end = ends->integers[number];
    *first = number == 0 ? 0 : ends->integers[number - 1];
    SIM_ARGUMENT(*first >= 0 && end >= *first && end <= rows, ACLNN_ERR_PARAM_INVALID,
                 "%s[%" PRId64 "] is %" PRId64 ", expected %" PRId64 " to %" PRId64, ends->name, number, end, *first,
                 rows);
    *length = end - *first;
    return ACL_SUCCESS;
}

aclnnStatus sim_attention_infer_batch(const struct sim_infer *infer, int64_t number, struct sim_infer_batch *batch)
{
    const aclsimArgument *kv_lengths = infer->in_kv_lengths;
    SIM_TRY(view_of(infer, infer->in_key, number, &batch->ba_key));
    SIM_TRY(view_of(infer, infer->in_value, number, &batch->ba_value));
    const struct sim_attention_view *key = &batch->ba_key, *value = &batch->ba_value;
    SIM_ARGUMENT(key->vi_columns == infer->in_queries.vi_columns, ACLNN_ERR_PARAM_INVALID,
                 "key has heads of %" PRId64 " columns, expected %" PRId64 ", those of query", key->vi_columns,
                 infer->in_queries.vi_columns);
    SIM_ARGUMENT(value->vi_columns <= SIM_INFER_DEPTH && value->vi_columns == infer->in_outs.vi_columns,
                 ACLNN_ERR_PARAM_INVALID,
                 "value has heads of %" PRId64 " columns and %s %" PRId64 ", expected the same, at most %d",
                 value->vi_columns, infer->in_out->name, infer->in_outs.vi_columns, SIM_INFER_DEPTH);
    SIM_ARGUMENT(value->vi_rows == key->vi_rows && value->vi_batches == key->vi_batches, ACLNN_ERR_PARAM_INVALID,
                 "value has %" PRId64 " batches of %" PRId64 " rows, expected %" PRId64 " of %" PRId64
                 ", those of key", value->vi_batches, value->vi_rows, key->vi_batches, key->vi_rows);
    batch->ba_first = batch->ba_first_key = 0;
    batch->ba_queries = infer->in_queries.vi_rows;
    batch->ba_keys = key->vi_rows;
    if (infer->in_is_packed)
        SIM_TRY(ends_of(infer, infer->in_lengths, number, infer->in_queries.vi_rows, &batch->ba_first,
                        &batch->ba_queries));
    else if (infer->in_lengths != NULL && !infer->in_is_single)
        SIM_TRY(length_of(infer, infer->in_lengths, number, infer->in_queries.vi_rows, &batch->ba_queries));
    if (infer->in_table != NULL) {
        int64_t most = infer->in_table->tensors->dims[1];
        most = sim_length_multiply(&most, key->vi_rows) && most < SIM_ATTENTION_FAR ? most : SIM_ATTENTION_FAR;
        return length_of(infer, kv_lengths, number, most, &batch->ba_keys);
    }
    if (infer->in_is_packed) {
        SIM_ARGUMENT(kv_lengths != NULL, ACLNN_ERR_PARAM_INVALID,
                     "actualSeqLengthsKv is absent, expected the ends of the batches for layout %s", infer->in_layout);
        return ends_of(infer, kv_lengths, number, key->vi_rows, &batch->ba_first_key, &batch->ba_keys);
    }
    return kv_lengths == NULL ? ACL_SUCCESS : length_of(infer, kv_lengths, number, key->vi_rows, &batch->ba_keys);
}

/* ---- masks and shifts ---- */

static aclnnStatus parse_mask(struct sim_infer *infer)
{
    const struct sim_infer_kind *kind = infer->in_call->userData;
    const aclsimArgument *mask = sim_attention_argument(infer->in_call, "attenMask");
    const int64_t mode = kind->ik_is_step ? 1 : sim_attention_integer(infer->in_call, "sparseMode", 0);
    SIM_ARGUMENT(mode >= 0 && mode <= 4, ACLNN_ERR_PARAM_INVALID, "sparseMode is %" PRId64 ", expected 0 to 4", mode);
    infer->in_mode = infer->in_is_single || (mask == NULL && mode == 0) ? 1 : mode;
    if (infer->in_is_single && mode >= 2)
        return ACL_SUCCESS;
    SIM_ARGUMENT(mask != NULL || mode < 2, ACLNN_ERR_PARAM_INVALID,
                 "attenMask is absent, expected a mask of %d x %d for sparseMode %" PRId64, SIM_ATTENTION_MASK,
                 SIM_ATTENTION_MASK, mode);
    if (mask == NULL)
        return ACL_SUCCESS;
    const aclsimTensor *tensor = mask->tensors;
    SIM_TRY(sim_require_type(mask, BYTES));
    SIM_TRY(sim_require_rank(mask, 2, 4));
    for (uint32_t k = 0; k < tensor->rank && mode >= 2; k++)
        SIM_ARGUMENT(tensor->dims[k] == (k + 2 < tensor->rank ? 1 : SIM_ATTENTION_MASK), ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of attenMask is %" PRId64 ", expected a mask of %d x %d for sparseMode %" PRId64, k,
                     tensor->dims[k], SIM_ATTENTION_MASK, SIM_ATTENTION_MASK, mode);
    if (mode >= 2)
        return ACL_SUCCESS;
    const bool is_line = tensor->rank == 2 && infer->in_is_single && tensor->dims[0] == infer->in_batches;
    infer->in_mask = sim_attention_spread(tensor, is_line            ? "BD"
                                                  : tensor->rank == 2 ? "SD"
                                                  : tensor->rank == 3 ? "BSD"
                                                                      : "BNSD");
    SIM_ARGUMENT(infer->in_mask.vi_heads == 1, ACLNN_ERR_PARAM_INVALID,
                 "dimension 1 of attenMask is %" PRId64 ", expected 1", infer->in_mask.vi_heads);
    return ACL_SUCCESS;
}

static aclnnStatus parse_shift(struct sim_infer *infer)
{
    const aclsimArgument *shift = sim_attention_argument(infer->in_call, "pseShift");
    const int64_t type = sim_attention_integer(infer->in_call, "pseType", 0);
    SIM_ARGUMENT(type == 0 || type == 2 || type == 3, ACLNN_ERR_PARAM_INVALID,
                 "pseType is %" PRId64 ", expected 0, 2 or 3", type);
    SIM_ARGUMENT(type == 0 || shift != NULL, ACLNN_ERR_PARAM_INVALID,
                 "pseShift is absent, expected one slope per head for pseType %" PRId64, type);
    if (shift == NULL)
        return ACL_SUCCESS;
    if (type != 0) {
        infer->in_kind = type == 2 ? SIM_SHIFT_LINEAR : SIM_SHIFT_ROOT;
        SIM_TRY(sim_require_type(shift, SIM_TYPE(ACL_FLOAT)));
        SIM_TRY(sim_require_shape(shift, &infer->in_heads, 1, "one slope per head"));
        infer->in_slopes = sim_attention_spread(shift->tensors, "N");
        return ACL_SUCCESS;
    }
    infer->in_kind = SIM_SHIFT_AFTER;
    SIM_TRY(sim_require_type(shift, SIM_TYPES_HALF));
    SIM_TRY(sim_require_rank(shift, 4, 4));
    infer->in_shift = sim_attention_spread(shift->tensors, "BNSD");
    SIM_ARGUMENT(infer->in_shift.vi_heads == infer->in_heads, ACLNN_ERR_PARAM_INVALID,
                 "dimension 1 of %s is %" PRId64 ", expected %" PRId64 ", the number of heads", shift->name,
                 infer->in_shift.vi_heads, infer->in_heads);
    return ACL_SUCCESS;
}

/* One more score per head, which has no value. */
static aclnnStatus parse_sink(struct sim_infer *infer)
{
    const aclsimArgument *sink = sim_attention_argument(infer->in_call, "learnableSink");
    if (sink == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(sink, SIM_TYPE(ACL_BF16)));
    SIM_TRY(sim_require_shape(sink, &infer->in_heads, 1, "one number per head"));
    infer->in_sinks = sim_attention_spread(sink->tensors, "N");
    return ACL_SUCCESS;
}

/* A mask or shift that is present covers the batch. */
static aclnnStatus check_cover(const struct sim_infer *infer, const char *name, const struct sim_attention_view *view,
                               const struct sim_infer_batch *batch)
{
    if (view->vi_heads == 0) /* absent */
        return ACL_SUCCESS;
    const int64_t keys = batch->ba_keys + infer->in_prefix;
    SIM_ARGUMENT(view->vi_batches == 1 || view->vi_batches == infer->in_batches, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " batches, expected 1 or %" PRId64, name, view->vi_batches, infer->in_batches);
    SIM_ARGUMENT(view->vi_rows >= batch->ba_queries && view->vi_columns >= keys, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows of %" PRId64 ", expected at least %" PRId64 " of %" PRId64, name,
                 view->vi_rows, view->vi_columns, batch->ba_queries, keys);
    return ACL_SUCCESS;
}

/* ---- prefixes, rotary parts, results ---- */

static aclnnStatus parse_prefix(struct sim_infer *infer)
{
    const aclsimArgument *keys = sim_attention_argument(infer->in_call, "keySharedPrefix");
    const aclsimArgument *values = sim_attention_argument(infer->in_call, "valueSharedPrefix");
    const aclsimArgument *length = sim_attention_array(infer->in_call, "actualSharedPrefixLen");
    SIM_ARGUMENT((keys == NULL) == (values == NULL), ACLNN_ERR_PARAM_INVALID,
                 "%s is absent, expected prefixes of both keys and values", keys == NULL ? "keySharedPrefix"
                                                                                          : "valueSharedPrefix");
    if (keys == NULL)
        return ACL_SUCCESS;
    const aclsimArgument *both[] = {keys, values};
    struct sim_attention_view *const views[] = {&infer->in_key_prefix, &infer->in_value_prefix};
    const int64_t columns[] = {infer->in_queries.vi_columns, infer->in_outs.vi_columns};
    for (size_t i = 0; i < 2; i++) {
        SIM_TRY(sim_require_same_type(both[i], infer->in_key->tensors->type, "key"));
        SIM_TRY(sim_attention_view(both[i]->name, both[i]->tensors, infer->in_layout, infer->in_kv_heads, views[i]));
        SIM_ARGUMENT(views[i]->vi_batches == 1 && views[i]->vi_columns == columns[i] &&
                         views[i]->vi_rows == infer->in_key_prefix.vi_rows,
                     ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRId64 " batches of %" PRId64 " rows of %" PRId64 ", expected 1 of %" PRId64
                     " of %" PRId64, both[i]->name, views[i]->vi_batches, views[i]->vi_rows, views[i]->vi_columns,
                     infer->in_key_prefix.vi_rows, columns[i]);
    }
    infer->in_prefix = length == NULL ? infer->in_key_prefix.vi_rows : length->integers[0];
    SIM_ARGUMENT(infer->in_prefix >= 0 && infer->in_prefix <= infer->in_key_prefix.vi_rows, ACLNN_ERR_PARAM_INVALID,
                 "actualSharedPrefixLen[0] is %" PRId64 ", expected 0 to %" PRId64, infer->in_prefix,
                 infer->in_key_prefix.vi_rows);
    return ACL_SUCCESS;
}

/* The parts of query and key with rotary positions; the first batch stands for all keys. */
static aclnnStatus parse_rope(struct sim_infer *infer)
{
    const aclsimArgument *query = sim_attention_argument(infer->in_call, "queryRope");
    const aclsimArgument *key = sim_attention_argument(infer->in_call, "keyRope");
    const struct sim_attention_view *queries = &infer->in_queries, *rope = &infer->in_query_rope;
    struct sim_infer_batch batch;
    SIM_ARGUMENT((query == NULL) == (key == NULL), ACLNN_ERR_PARAM_INVALID,
                 "%s is absent, expected both queryRope and keyRope", query == NULL ? "queryRope" : "keyRope");
    if (query == NULL || infer->in_batches == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_same_type(query, queries->vi_type, "query"));
    SIM_TRY(sim_require_same_type(key, queries->vi_type, "query"));
    SIM_TRY(sim_attention_view(query->name, query->tensors, infer->in_layout, infer->in_heads, &infer->in_query_rope));
    SIM_TRY(sim_attention_view(key->name, key->tensors, infer->in_kv_layout, infer->in_kv_heads, &infer->in_key_rope));
    SIM_TRY(sim_attention_infer_batch(infer, 0, &batch));
    SIM_ARGUMENT(infer->in_prefix == 0 && infer->in_key->count == 1 && infer->in_key->tensors->type != ACL_INT8,
                 ACLNN_ERR_PARAM_INVALID,
                 "queryRope is given, which the simulator does not support with int8 keys, prefixes and lists of keys");
    SIM_ARGUMENT(rope->vi_batches == queries->vi_batches && rope->vi_rows == queries->vi_rows && rope->vi_columns == 64,
                 ACLNN_ERR_PARAM_INVALID,
                 "queryRope has %" PRId64 " batches of %" PRId64 " rows of %" PRId64 ", expected %" PRId64
                 " of %" PRId64 " of 64", rope->vi_batches, rope->vi_rows, rope->vi_columns, queries->vi_batches,
                 queries->vi_rows);
    rope = &infer->in_key_rope;
    SIM_ARGUMENT(rope->vi_batches == batch.ba_key.vi_batches && rope->vi_rows == batch.ba_key.vi_rows &&
                     rope->vi_columns == 64,
                 ACLNN_ERR_PARAM_INVALID,
                 "keyRope has %" PRId64 " batches of %" PRId64 " rows of %" PRId64 ", expected %" PRId64 " of %" PRId64
                 " of 64", rope->vi_batches, rope->vi_rows, rope->vi_columns, batch.ba_key.vi_batches,
                 batch.ba_key.vi_rows);
    return ACL_SUCCESS;
}

static aclnnStatus parse_results(struct sim_infer *infer)
{
    const struct sim_attention_view *queries = &infer->in_queries, *outs = &infer->in_outs;
    const aclsimArgument *lse = sim_attention_argument(infer->in_call, "softmaxLse");
    infer->in_out = sim_attention_argument(infer->in_call, "attentionOut");
    SIM_TRY(sim_require_type(infer->in_out, SIM_TYPE(queries->vi_type) | SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_attention_view(infer->in_out->name, infer->in_out->tensors, infer->in_out_layout, infer->in_heads,
                               &infer->in_outs));
    SIM_ARGUMENT(outs->vi_batches == queries->vi_batches && outs->vi_rows == queries->vi_rows, ACLNN_ERR_PARAM_INVALID,
                 "attentionOut has %" PRId64 " batches of %" PRId64 " rows, expected %" PRId64 " of %" PRId64
                 ", those of query", outs->vi_batches, outs->vi_rows, queries->vi_batches, queries->vi_rows);
    if (sim_attention_integer(infer->in_call, "softmaxLseFlag", 0) == 0)
        return ACL_SUCCESS;
    const int64_t plain[] = {queries->vi_batches, infer->in_heads, queries->vi_rows, 1};
    const int64_t packed[] = {queries->vi_rows, infer->in_heads, 1};
    SIM_ARGUMENT(lse != NULL, ACLNN_ERR_PARAM_INVALID,
                 "softmaxLse is NULL, expected a tensor, as softmaxLseFlag is set");
    SIM_TRY(sim_require_type(lse, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_shape(lse, infer->in_is_packed ? packed : plain, infer->in_is_packed ? 3 : 4,
                              "one number per query and head"));
    infer->in_lse = lse;
    infer->in_lses = sim_attention_spread(lse->tensors, infer->in_is_packed ? "TND" : "BNSD");
    return ACL_SUCCESS;
}

aclnnStatus sim_attention_infer_parse(const aclsimCall *call, struct sim_infer *infer)
{
    struct sim_infer_batch batch;
    *infer = (struct sim_infer){.in_call = call};
    infer->in_key = sim_attention_argument(call, "key");
    infer->in_value = sim_attention_argument(call, "value");
    SIM_ARGUMENT(infer->in_key->count != 0 && infer->in_value->count != 0, ACLNN_ERR_PARAM_INVALID,
                 "%s has no tensors, expected 1 or one per batch", infer->in_key->count == 0 ? "key" : "value");
    SIM_TRY(parse_layout(infer));
    SIM_TRY(parse_heads(infer));
    SIM_TRY(parse_query(infer));
    SIM_TRY(parse_results(infer));
    SIM_TRY(parse_table(infer));
    SIM_TRY(parse_lists(infer));
    SIM_TRY(parse_mask(infer));
    SIM_TRY(parse_shift(infer));
    SIM_TRY(parse_sink(infer));
    SIM_TRY(parse_prefix(infer));
    SIM_TRY(parse_rope(infer));
    SIM_TRY(sim_attention_infer_scales(infer));
    for (int64_t b = 0; b < infer->in_batches; b++) {
        SIM_TRY(sim_attention_infer_batch(infer, b, &batch));
        SIM_TRY(check_cover(infer, "pseShift", &infer->in_shift, &batch));
        SIM_TRY(check_cover(infer, "attenMask", &infer->in_mask, &batch));
    }
    return ACL_SUCCESS;
}
