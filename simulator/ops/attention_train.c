/* Parsing of FlashAttentionScore, its forms for batches of different lengths, and their gradients.
 *
 * The operators have the same arguments under almost the same names. Without a mask nothing is masked, whatever the
 * sparse mode says. The statistics of packed operands have the shape (T, N, 8), but each batch has all rows of head 0,
 * then those of head 1, unless the layout "same_as_input" is asked for. */
#include "attention_train.h"

#include "base/bytes.h"
#include "report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PREFIX_ROWS 3072
#define MOST_BATCHES (1 << 21)

/* The argument under the name of the operator, or under that of the gradient. */
static const aclsimArgument *either(const aclsimCall *call, const char *name, const char *other)
{
    const aclsimArgument *found = sim_attention_argument(call, name);
    return found != NULL ? found : sim_attention_argument(call, other);
}

/* ---- operands ---- */

static aclnnStatus view_operand(const struct sim_training *training, const aclsimArgument *argument, int64_t heads,
                                struct sim_attention_view *view)
{
    SIM_TRY(sim_require_same_type(argument, training->tr_query.vi_type, "query"));
    return sim_attention_view(argument->name, argument->tensors, training->tr_layout, heads, view);
}

aclnnStatus sim_attention_train_view(const struct sim_training *training, const char *name,
                                     const struct sim_attention_view *like, int64_t columns,
                                     struct sim_attention_view *view)
{
    const aclsimArgument *argument = sim_attention_argument(training->tr_call, name);
    SIM_ARGUMENT(argument != NULL, ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected a tensor", name);
    SIM_TRY(view_operand(training, argument, like->vi_heads, view));
    SIM_ARGUMENT(view->vi_batches == like->vi_batches && view->vi_rows == like->vi_rows && view->vi_columns == columns,
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " batches of %" PRId64 " rows of %" PRId64 ", expected %" PRId64 " of %" PRId64
                 " of %" PRId64, argument->name, view->vi_batches, view->vi_rows, view->vi_columns, like->vi_batches,
                 like->vi_rows, columns);
    return ACL_SUCCESS;
}

static aclnnStatus parse_query(struct sim_training *training)
{
    const aclsimArgument *query = sim_attention_argument(training->tr_call, "query");
    SIM_TRY(sim_attention_layout(training->tr_call, training->tr_call->userData, &training->tr_layout));
    training->tr_is_packed = training->tr_layout[0] == 'T';
    training->tr_heads = sim_attention_integer(training->tr_call, "headNum", 0);
    if (training->tr_heads <= 0)
        sim_report_number("headNum", 1);
    SIM_ARGUMENT(training->tr_heads > 0, ACLNN_ERR_PARAM_INVALID, "headNum is %" PRId64 ", expected 1 or more",
                 training->tr_heads);
    SIM_TRY(sim_require_type(query, SIM_TYPES_SINGLE));
    SIM_TRY(sim_attention_view(query->name, query->tensors, training->tr_layout, training->tr_heads,
                               &training->tr_query));
    SIM_ARGUMENT(training->tr_query.vi_columns > 0 && training->tr_query.vi_columns <= SIM_ATTENTION_DEPTH,
                 ACLNN_ERR_PARAM_INVALID, "query has heads of %" PRId64 " columns, expected 1 to %d",
                 training->tr_query.vi_columns, SIM_ATTENTION_DEPTH);
    return ACL_SUCCESS;
}

/* The number of heads of the keys: of all columns, those of a head are known from the queries. */
static aclnnStatus count_heads(struct sim_training *training, const aclsimArgument *key)
{
    const char *layout = training->tr_layout, *letter = strpbrk(layout, "NH");
    const uint32_t place = (uint32_t)(letter - layout);
    SIM_TRY(sim_require_rank(key, (uint32_t)strlen(layout), (uint32_t)strlen(layout)));
    const int64_t size = key->tensors->dims[place], columns = *letter == 'H' ? training->tr_query.vi_columns : 1;
    training->tr_kv_heads = size / columns;
    SIM_ARGUMENT(size > 0 && size % columns == 0 && training->tr_heads % training->tr_kv_heads == 0,
                 ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %" PRId64 ", expected that of a divisor of the %" PRId64 " heads in headNum",
                 place, key->name, size, training->tr_heads);
    return ACL_SUCCESS;
}

static aclnnStatus parse_operands(struct sim_training *training)
{
    const aclsimCall *call = training->tr_call;
    const aclsimArgument *key = either(call, "key", "keyIn"), *value = sim_attention_argument(call, "value");
    const struct sim_attention_view *query = &training->tr_query;
    SIM_TRY(count_heads(training, key));
    SIM_TRY(view_operand(training, key, training->tr_kv_heads, &training->tr_key));
    SIM_TRY(view_operand(training, value, training->tr_kv_heads, &training->tr_value));
    SIM_ARGUMENT(training->tr_key.vi_batches == query->vi_batches &&
                     training->tr_key.vi_columns == query->vi_columns,
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " batches and heads of %" PRId64 " columns, expected %" PRId64 " and %" PRId64
                 ", as query", key->name, training->tr_key.vi_batches, training->tr_key.vi_columns, query->vi_batches,
                 query->vi_columns);
    SIM_ARGUMENT(training->tr_value.vi_batches == query->vi_batches &&
                     training->tr_value.vi_rows == training->tr_key.vi_rows &&
                     training->tr_value.vi_columns > 0 && training->tr_value.vi_columns <= query->vi_columns,
                 ACLNN_ERR_PARAM_INVALID,
                 "value has %" PRId64 " batches of %" PRId64 " rows of %" PRId64 ", expected %" PRId64 " of %" PRId64
                 " of 1 to %" PRId64, training->tr_value.vi_batches, training->tr_value.vi_rows,
                 training->tr_value.vi_columns, query->vi_batches, training->tr_key.vi_rows, query->vi_columns);
    return ACL_SUCCESS;
}

static aclnnStatus parse_rope(struct sim_training *training)
{
    const aclsimCall *call = training->tr_call;
    const aclsimArgument *query = sim_attention_argument(call, "queryRope");
    const aclsimArgument *key = either(call, "keyRope", "keyInRope");
    const struct sim_attention_view *one = &training->tr_query_rope, *other = &training->tr_key_rope;
    SIM_ARGUMENT((query == NULL) == (key == NULL), ACLNN_ERR_PARAM_INVALID,
                 "the rotary part of %s is absent, expected both parts or none", query == NULL ? "query" : "key");
    if (query == NULL)
        return ACL_SUCCESS;
    SIM_TRY(view_operand(training, query, training->tr_heads, &training->tr_query_rope));
    SIM_TRY(view_operand(training, key, training->tr_kv_heads, &training->tr_key_rope));
    SIM_ARGUMENT(one->vi_rows == training->tr_query.vi_rows && other->vi_rows == training->tr_key.vi_rows &&
                     one->vi_columns == other->vi_columns &&
                     one->vi_columns <= SIM_ATTENTION_DEPTH - training->tr_query.vi_columns,
                 ACLNN_ERR_PARAM_INVALID,
                 "%s and %s have %" PRId64 " and %" PRId64 " rows of %" PRId64 " and %" PRId64
                 " columns, expected the rows of query and key and at most %d columns in all", query->name, key->name,
                 one->vi_rows, other->vi_rows, one->vi_columns, other->vi_columns, SIM_ATTENTION_DEPTH);
    return ACL_SUCCESS;
}

/* ---- batches ---- */

/* Ends do not decrease, except that the last ones may be 0: they belong to batches that are not used. */
static aclnnStatus check_ends(const aclsimArgument *ends, int64_t rows)
{
    int64_t least = 0;
    bool is_over = false;
    for (uint64_t b = 0; b < ends->count; b++) {
        const int64_t end = ends->integers[b];
        is_over = is_over || (end == 0 && least > 0);
        SIM_ARGUMENT(!is_over || end == 0, ACLNN_ERR_PARAM_INVALID,
                     "%s[%" PRIu64 "] is %" PRId64 ", expected 0, as the end before it is 0", ends->name, b, end);
        SIM_ARGUMENT(is_over || (end >= least && end <= rows), ACLNN_ERR_PARAM_INVALID,
                     "%s[%" PRIu64 "] is %" PRId64 ", expected %" PRId64 " to %" PRId64, ends->name, b, end, least,
                     rows);
        least = end;
    }
    return ACL_SUCCESS;
}

/* Batch `number` in an array of ends. */
static void find_rows(const aclsimArgument *ends, int64_t number, int64_t *first, int64_t *length)
{
    const int64_t end = ends->integers[number];
    *first = number == 0 || end == 0 ? 0 : ends->integers[number - 1];
    *length = end - *first;
}

void sim_attention_train_step(const struct sim_training *training, struct sim_training_batch *batch)
{
    batch->ba_bit += (uint64_t)training->tr_heads * (uint64_t)batch->ba_queries * (uint64_t)batch->ba_keys;
    batch->ba_number++;
    if (training->tr_is_packed) {
        find_rows(training->tr_lengths, batch->ba_number, &batch->ba_first, &batch->ba_queries);
        find_rows(training->tr_kv_lengths, batch->ba_number, &batch->ba_first_key, &batch->ba_keys);
        return;
    }
    batch->ba_place = batch->ba_number;
    batch->ba_queries = training->tr_query.vi_rows;
    batch->ba_keys = training->tr_key.vi_rows;
}

static aclnnStatus parse_batches(struct sim_training *training)
{
    const aclsimArgument *lengths = sim_attention_array(training->tr_call, "actualSeqQLen");
    const aclsimArgument *others = sim_attention_array(training->tr_call, "actualSeqKvLen");
    struct sim_training_batch batch = {.ba_number = -1};
    training->tr_batches = training->tr_query.vi_batches;
    training->tr_first_live = training->tr_last_live = -1;
    SIM_ARGUMENT(training->tr_batches <= MOST_BATCHES, ACLNN_ERR_PARAM_INVALID,
                 "query has %" PRId64 " batches, expected at most %d", training->tr_batches, MOST_BATCHES);
    if (!training->tr_is_packed)
        return ACL_SUCCESS;
    SIM_ARGUMENT(lengths != NULL && others != NULL && lengths->count == others->count, ACLNN_ERR_PARAM_INVALID,
                 "actualSeqQLen and actualSeqKvLen have %" PRIu64 " and %" PRIu64
                 " numbers, expected the ends of the same batches", lengths == NULL ? 0 : lengths->count,
                 others == NULL ? 0 : others->count);
    SIM_TRY(check_ends(lengths, training->tr_query.vi_rows));
    SIM_TRY(check_ends(others, training->tr_key.vi_rows));
    training->tr_lengths = lengths;
    training->tr_kv_lengths = others;
    training->tr_batches = (int64_t)lengths->count;
    for (int64_t b = 0; b < training->tr_batches; b++) {
        sim_attention_train_step(training, &batch);
        if (batch.ba_queries == 0 || batch.ba_keys == 0)
            continue;
        training->tr_first_live = training->tr_first_live < 0 ? b : training->tr_first_live;
        training->tr_last_live = b;
    }
    return ACL_SUCCESS;
}

/* ---- shifts, masks, dropout ---- */

static aclnnStatus parse_shift(struct sim_training *training)
{
    const aclsimArgument *pse = either(training->tr_call, "realShift", "pseShift");
    const int64_t type = sim_attention_integer(training->tr_call, "pseType", 1);
    static const enum sim_attention_shift shifts[] = {SIM_SHIFT_AFTER, SIM_SHIFT_BEFORE, SIM_SHIFT_LINEAR,
                                                      SIM_SHIFT_ROOT};
    const struct sim_attention_view *view = &training->tr_pse;
    if (type < 0 || type > 3 || (type > 1 && pse == NULL))
        sim_report_number("pseType", 1);
    SIM_ARGUMENT(type >= 0 && type <= 3, ACLNN_ERR_PARAM_INVALID, "pseType is %" PRId64 ", expected 0 to 3", type);
    SIM_ARGUMENT(type < 2 || pse != NULL, ACLNN_ERR_PARAM_INVALID,
                 "the slopes are absent, expected one per head for pseType %" PRId64, type);
    if (pse == NULL)
        return ACL_SUCCESS;
    training->tr_shift = shifts[type];
    SIM_TRY(sim_require_type(pse, SIM_TYPE(type < 2 ? training->tr_query.vi_type : ACL_FLOAT)));
    SIM_TRY(sim_require_rank(pse, type < 2 ? 4 : 1, type < 2 ? 4 : 2));
    training->tr_pse = sim_attention_spread(pse->tensors, type < 2 ? "BNSD" : pse->tensors->rank == 1 ? "N" : "BN");
    SIM_ARGUMENT(view->vi_heads == training->tr_heads &&
                     (view->vi_batches == 1 || view->vi_batches == training->tr_batches),
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " batches of %" PRId64 " heads, expected 1 or %" PRId64 " of %" PRId64, pse->name,
                 view->vi_batches, view->vi_heads, training->tr_batches, training->tr_heads);
    SIM_ARGUMENT(type > 1 || !training->tr_is_packed, ACLNN_ERR_PARAM_INVALID,
                 "%s is given, which the simulator does not support for layout TND and pseType %" PRId64, pse->name,
                 type);
    SIM_ARGUMENT(type > 1 || ((view->vi_rows == 1 || view->vi_rows == training->tr_query.vi_rows) &&
                              view->vi_columns == training->tr_key.vi_rows),
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows of %" PRId64 ", expected 1 or %" PRId64 " of %" PRId64, pse->name,
                 view->vi_rows, view->vi_columns, training->tr_query.vi_rows, training->tr_key.vi_rows);
    return ACL_SUCCESS;
}

static aclnnStatus check_prefix(struct sim_training *training, int64_t mode)
{
    struct sim_training_batch batch = {.ba_number = -1};
    training->tr_prefix = sim_attention_array(training->tr_call, "prefix");
    SIM_ARGUMENT(training->tr_prefix != NULL && training->tr_prefix->count == (uint64_t)training->tr_batches,
                 ACLNN_ERR_PARAM_INVALID,
                 "prefix has %" PRIu64 " numbers, expected %" PRId64 ", one per batch, for sparseMode %" PRId64,
                 training->tr_prefix == NULL ? 0 : training->tr_prefix->count, training->tr_batches, mode);
    for (int64_t b = 0; b < training->tr_batches; b++) {
        const int64_t prefix = training->tr_prefix->integers[b];
        sim_attention_train_step(training, &batch);
        const int64_t least = batch.ba_queries > batch.ba_keys ? 0 : batch.ba_keys - batch.ba_queries;
        SIM_ARGUMENT(prefix >= least && prefix <= batch.ba_keys, ACLNN_ERR_PARAM_INVALID,
                     "prefix[%" PRId64 "] is %" PRId64 ", expected %" PRId64 " to %" PRId64, b, prefix, least,
                     batch.ba_keys);
    }
    return ACL_SUCCESS;
}

/* Every batch lies inside of the mask. */
static aclnnStatus check_mask(const struct sim_training *training, const aclsimArgument *mask)
{
    const struct sim_attention_view *view = &training->tr_mask;
    struct sim_training_batch batch = {.ba_number = -1};
    SIM_ARGUMENT((view->vi_batches == 1 || view->vi_batches == training->tr_batches) &&
                     (view->vi_heads == 1 || view->vi_heads == training->tr_heads),
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " batches of %" PRId64 " heads, expected 1 or %" PRId64 " of 1 or %" PRId64,
                 mask->name, view->vi_batches, view->vi_heads, training->tr_batches, training->tr_heads);
    for (int64_t b = 0; b < training->tr_batches; b++) {
        sim_attention_train_step(training, &batch);
        SIM_ARGUMENT(view->vi_rows >= batch.ba_queries && view->vi_columns >= batch.ba_keys, ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRId64 " rows of %" PRId64 ", expected %" PRId64 " of %" PRId64, mask->name,
                     view->vi_rows, view->vi_columns, batch.ba_queries, batch.ba_keys);
    }
    return ACL_SUCCESS;
}

static aclnnStatus parse_mask(struct sim_training *training)
{
    const aclsimArgument *mask = sim_attention_argument(training->tr_call, "attenMask");
    const int64_t mode = sim_attention_integer(training->tr_call, "sparseMode", 0);
    const int64_t most = training->tr_is_packed ? 8 : 6;
    SIM_ARGUMENT(mode >= 0 && mode <= most, ACLNN_ERR_PARAM_INVALID,
                 "sparseMode is %" PRId64 ", expected 0 to %" PRId64 " for layout %s", mode, most, training->tr_layout);
    training->tr_mode = mask == NULL ? 1 : mode;
    if (mask == NULL)
        return ACL_SUCCESS;
    const aclsimTensor *tensor = mask->tensors;
    const bool is_full = mode < 2 || mode == 5;
    SIM_TRY(sim_require_type(mask, SIM_TYPES_BOOL | SIM_TYPE(ACL_UINT8)));
    SIM_ARGUMENT(tensor->rank == 2 || tensor->rank == 4, ACLNN_ERR_PARAM_INVALID,
                 "%s has %u dimensions, expected 2 or 4", mask->name, tensor->rank);
    if (mode == 5 || mode == 6)
        SIM_TRY(check_prefix(training, mode));
    if (is_full) {
        training->tr_mask = sim_attention_spread(tensor, tensor->rank == 2 ? "SD" : "BNSD");
        return check_mask(training, mask);
    }
    const int64_t rows = mode == 6 ? PREFIX_ROWS : SIM_ATTENTION_MASK;
    SIM_ARGUMENT(tensor->dims[tensor->rank - 2] == rows && tensor->dims[tensor->rank - 1] == SIM_ATTENTION_MASK,
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows of %" PRId64 ", expected %" PRId64 " of %d for sparseMode %" PRId64,
                 mask->name, tensor->dims[tensor->rank - 2], tensor->dims[tensor->rank - 1], rows,
                 SIM_ATTENTION_MASK, mode);
    return ACL_SUCCESS;
}

static aclnnStatus parse_dropout(struct sim_training *training)
{
    const aclsimArgument *drop = sim_attention_argument(training->tr_call, "dropMask");
    const double keep = sim_attention_number(training->tr_call, "keepProb", 1);
    struct sim_training_batch batch = {.ba_number = -1};
    uint64_t bits = 0;
    SIM_ARGUMENT(keep > 0 && keep <= 1, ACLNN_ERR_PARAM_INVALID, "keepProb is %g, expected more than 0, at most 1",
                 keep);
    training->tr_kept = 1 / keep;
    if (drop == NULL || keep == 1)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(drop, SIM_TYPE(ACL_UINT8)));
    SIM_TRY(sim_require_rank(drop, 1, 1));
    bool fits = true;
    for (int64_t b = 0; b < training->tr_batches; b++) {
        sim_attention_train_step(training, &batch);
        uint64_t more = (uint64_t)training->tr_heads;
        fits = fits && sim_size_multiply(&more, (uint64_t)batch.ba_queries) &&
               sim_size_multiply(&more, (uint64_t)batch.ba_keys) && !__builtin_add_overflow(bits, more, &bits);
    }
    fits = fits && (uint64_t)drop->tensors->dims[0] >= bits / 128 * 16 + (bits % 128 != 0 ? 16 : 0);
    SIM_ARGUMENT(fits, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " bytes, expected 16 per 128 of the %" PRIu64 " weights", drop->name,
                 drop->tensors->dims[0], bits);
    training->tr_drop = drop;
    return ACL_SUCCESS;
}

static aclnnStatus parse_sinks(struct sim_training *training)
{
    const aclsimArgument *sinks = either(training->tr_call, "sink", "sinkIn");
    if (sinks == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(sinks, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_shape(sinks, &training->tr_heads, 1, "one number per head"));
    training->tr_sinks = sim_attention_spread(sinks->tensors, "N");
    return ACL_SUCCESS;
}

/* ---- statistics ---- */

static aclnnStatus parse_statistic(const struct sim_training *training, const aclsimArgument *argument,
                                   struct sim_attention_view *view)
{
    const struct sim_attention_view *query = &training->tr_query;
    const int64_t plain[] = {query->vi_batches, training->tr_heads, query->vi_rows, SIM_ATTENTION_COPIES};
    const int64_t packed[] = {query->vi_rows, training->tr_heads, SIM_ATTENTION_COPIES};
    const aclsimTensor *tensor = argument->tensors;
    SIM_TRY(sim_require_type(argument, SIM_TYPE(ACL_FLOAT)));
    SIM_TRY(sim_require_shape(argument, training->tr_is_packed ? packed : plain, training->tr_is_packed ? 3 : 4,
                              "8 numbers per query and head"));
    *view = sim_attention_spread(tensor, training->tr_is_packed ? "TND" : "BNSD");
    if (!training->tr_is_sorted || sim_walk_count(tensor) == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(tensor->strides[2] == 1 && (packed[1] == 1 || tensor->strides[1] == SIM_ATTENTION_COPIES) &&
                     (packed[0] == 1 || tensor->strides[0] == packed[1] * SIM_ATTENTION_COPIES),
                 ACLNN_ERR_PARAM_INVALID, "%s is not contiguous, expected so, as its rows are sorted by heads",
                 argument->name);
    return ACL_SUCCESS;
}

static aclnnStatus parse_statistics(struct sim_training *training)
{
    const aclsimArgument *layout = either(training->tr_call, "softmaxOutLayout", "softmaxInLayout");
    const aclsimArgument *most = either(training->tr_call, "softmaxMaxOut", "softmaxMax");
    const aclsimArgument *sum = either(training->tr_call, "softmaxSumOut", "softmaxSum");
    const bool is_like_input = layout != NULL && strcmp(layout->text, "same_as_input") == 0;
    SIM_ARGUMENT(is_like_input || layout == NULL || layout->text[0] == '\0', ACLNN_ERR_PARAM_INVALID,
                 "%s is \"%.40s\", expected \"\" or \"same_as_input\"", layout->name, layout->text);
    SIM_ARGUMENT(most != NULL && sum != NULL, ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected a result of the operator",
                 most == NULL ? "softmaxMax" : "softmaxSum");
    training->tr_is_sorted = training->tr_is_packed && !is_like_input;
    SIM_TRY(parse_statistic(training, most, &training->tr_most));
    return parse_statistic(training, sum, &training->tr_sum);
}

struct sim_attention_rows sim_attention_train_statistic(const struct sim_training *training,
                                                        const struct sim_attention_view *view,
                                                        const struct sim_training_batch *batch, int64_t n)
{
    struct sim_attention_view own = *view;
    if (!training->tr_is_sorted)
        return sim_attention_rows_at(view, batch->ba_place, n, batch->ba_first);
    own.vi_row = SIM_ATTENTION_COPIES;
    own.vi_head = batch->ba_queries * SIM_ATTENTION_COPIES;
    return sim_attention_rows_at(&own, 0, n, batch->ba_first * training->tr_heads);
}

aclnnStatus sim_attention_train_parse(const aclsimCall *call, struct sim_training *training)
{
    *training = (struct sim_training){.tr_call = call};
    SIM_TRY(parse_query(training));
    SIM_TRY(parse_operands(training));
    SIM_TRY(parse_rope(training));
    SIM_TRY(parse_batches(training));
    SIM_TRY(parse_shift(training));
    SIM_TRY(parse_mask(training));
    SIM_TRY(parse_dropout(training));
    SIM_TRY(parse_sinks(training));
    return parse_statistics(training);
}

/* ---- heads ---- */

/* The sparse mode of a batch, from 0 to 5; 7 and 8 have a band in one batch only. */
static int64_t mode_of(const struct sim_training *training, int64_t number)
{
    switch (training->tr_mode) {
    case 6:
        return 5;
    case 7:
        return number == training->tr_last_live ? 4 : 3;
    case 8:
        return number == training->tr_first_live ? 4 : 2;
    default:
        return training->tr_mode;
    }
}

void sim_attention_train_head(const struct sim_training *training, const struct sim_training_batch *batch, int64_t n,
                              struct sim_attention_head *head)
{
    const int64_t place = batch->ba_place, mode = mode_of(training, batch->ba_number);
    const struct sim_attention_source rows = {.so_batch = place, .so_first = batch->ba_first_key,
                                              .so_head = n / (training->tr_heads / training->tr_kv_heads)};
    *head = (struct sim_attention_head){
        .he_queries = batch->ba_queries,
        .he_keys = batch->ba_keys,
        .he_width = training->tr_value.vi_columns,
        .he_plain = training->tr_query.vi_columns,
        .he_rope = training->tr_query_rope.vi_columns,
        .he_query = sim_attention_rows_at(&training->tr_query, place, n, batch->ba_first),
        .he_query_rope = sim_attention_rows_at(&training->tr_query_rope, place, n, batch->ba_first),
        .he_key = rows,
        .he_key_rope = rows,
        .he_value = rows,
        .he_scale = (float)sim_attention_number(training->tr_call, "scaleValue", 1),
        .he_shift = training->tr_pse.vi_data == NULL ? SIM_SHIFT_NOT : training->tr_shift,
        .he_mask = sim_attention_rows_at(&training->tr_mask, batch->ba_number, n, 0),
        .he_kept = (float)training->tr_kept,
        .he_has_sink = training->tr_sinks.vi_data != NULL,
    };
    head->he_key.so_view = training->tr_key;
    head->he_key_rope.so_view = training->tr_key_rope;
    head->he_value.so_view = training->tr_value;
    if (head->he_has_sink) {
        const struct sim_attention_rows sink = sim_attention_rows_at(&training->tr_sinks, 0, n, 0);
        sim_attention_load(&sink, 0, 1, &head->he_sink);
    }
    const struct sim_attention_rows pse = sim_attention_rows_at(&training->tr_pse, batch->ba_number, n, 0);
    if (head->he_shift == SIM_SHIFT_LINEAR || head->he_shift == SIM_SHIFT_ROOT) {
        sim_attention_load(&pse, 0, 1, &head->he_slope);
        head->he_apart = sim_attention_start(training->tr_call, "qStartIdx") -
                         sim_attention_start(training->tr_call, "kvStartIdx");
    } else {
        head->he_pse = pse;
    }
    if (mode == 5) {
        sim_attention_set_band(head, 3, 0, 0);
        head->he_mask.ro_place = NULL; /* the band and the prefix say the same */
        head->he_shared = training->tr_prefix->integers[batch->ba_number];
    } else {
        sim_attention_set_band(head, mode, sim_attention_integer(training->tr_call, "preTokens", SIM_ATTENTION_FAR),
                               sim_attention_integer(training->tr_call, "nextTokens", SIM_ATTENTION_FAR));
    }
    if (training->tr_drop == NULL)
        return;
    const struct sim_attention_view drop = sim_attention_spread(training->tr_drop->tensors, "D");
    head->he_drop = sim_attention_rows_at(&drop, 0, 0, 0);
    head->he_bit = batch->ba_bit + (uint64_t)n * (uint64_t)batch->ba_queries * (uint64_t)batch->ba_keys;
}
