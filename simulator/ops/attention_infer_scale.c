/* Scales and offsets of inference attention: those of int8 keys and values, and those of an int8 result. */
#include "attention_infer.h"

#include "line.h"
#include <inttypes.h>

/* A scale or offset with one number, or with one per head and column. */
static aclnnStatus view_scale(const aclsimArgument *scale, const aclsimTensor *tensor, int64_t heads, int64_t columns,
                              struct sim_attention_view *view)
{
    aclsimTensor line = *tensor;
    while (line.rank > 1 && line.dims[0] == 1) /* (1, N, 1, D), (1, N, D), (1, H) */
        line = sim_line_without(&line, 0);
    *view = (struct sim_attention_view){.vi_data = line.data, .vi_type = line.type};
    if (line.rank == 0 || (line.rank == 1 && line.dims[0] == 1))
        return ACL_SUCCESS;
    const char *layout = line.rank == 1 ? "H" : line.rank == 2 ? "ND" : "NSD";
    SIM_ARGUMENT(line.rank <= 3, ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected 1 number or %" PRId64
                 " x %" PRId64, scale->name, tensor->rank, heads, columns);
    SIM_TRY(sim_attention_view(scale->name, &line, layout, heads, view));
    SIM_ARGUMENT(view->vi_columns == columns && view->vi_rows == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " numbers per head, expected 1 number in all or %" PRId64 " per head", scale->name,
                 view->vi_columns * view->vi_rows, columns);
    return ACL_SUCCESS;
}

/* One scale or offset of the keys or the values in a mode: 0 per column, 1 per row, 2 per head, 3 per row and head. */
static aclnnStatus parse_scale(const struct sim_infer *infer, const aclsimArgument *scale, const aclsimTensor *tensor,
                               int64_t mode, int64_t columns, struct sim_attention_view *view)
{
    static const char *const layouts[][4] = {[1] = {"", "", "BS", "NBS"}, [2] = {"", "N"}, [3] = {"", "", "", "BNS"}};
    SIM_ARGUMENT(mode >= 0 && mode <= 3, ACLNN_ERR_PARAM_INVALID,
                 "the mode of %s is %" PRId64 ", but the simulator supports only 0 to 3", scale->name, mode);
    SIM_TRY(sim_require_type(scale, SIM_TYPES_SINGLE));
    if (mode == 0)
        return view_scale(scale, tensor, infer->in_kv_heads, columns, view);
    SIM_ARGUMENT(tensor->rank < 4 && layouts[mode][tensor->rank] != NULL && layouts[mode][tensor->rank][0] != '\0',
                 ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, which do not fit mode %" PRId64, scale->name,
                 tensor->rank, mode);
    *view = sim_attention_spread(tensor, layouts[mode][tensor->rank]);
    SIM_ARGUMENT(mode == 2 || (infer->in_table == NULL && !infer->in_is_packed && infer->in_prefix == 0),
                 ACLNN_ERR_PARAM_INVALID,
                 "%s is given per row, which the simulator does not support with blocks, prefixes and layout %s",
                 scale->name, infer->in_layout);
    struct sim_infer_batch batch;
    for (int64_t b = 0; b < infer->in_batches && mode != 2; b++) {
        SIM_TRY(sim_attention_infer_batch(infer, b, &batch));
        SIM_ARGUMENT(view->vi_batches == infer->in_batches && view->vi_rows >= batch.ba_key.vi_rows,
                     ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRId64 " batches of %" PRId64 " rows, expected %" PRId64 " of %" PRId64, scale->name,
                     view->vi_batches, view->vi_rows, infer->in_batches, batch.ba_key.vi_rows);
    }
    SIM_ARGUMENT(mode == 1 ? view->vi_heads == 1 : view->vi_heads == infer->in_kv_heads, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " heads, which do not fit mode %" PRId64, scale->name, view->vi_heads, mode);
    return ACL_SUCCESS;
}

/* Half of a parameter for keys (0) and values (1). */
static aclsimTensor half_of(const aclsimTensor *both, int64_t which)
{
    aclsimTensor half = sim_line_without(both, 0);
    if (which != 0 && half.data != NULL)
        sim_walk_advance(&half, both->strides[0]);
    return half;
}

static aclnnStatus parse_both(const struct sim_infer *infer, const char *name, struct sim_attention_view *key,
                              struct sim_attention_view *value)
{
    const aclsimArgument *both = sim_attention_argument(infer->in_call, name);
    struct sim_attention_view *const views[] = {key, value};
    if (both == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_rank(both, 1, 4));
    SIM_ARGUMENT(both->tensors->dims[0] == 2, ACLNN_ERR_PARAM_INVALID,
                 "dimension 0 of %s is %" PRId64 ", expected 2, for key and value", name, both->tensors->dims[0]);
    for (int64_t i = 0; i < 2; i++) {
        const aclsimTensor half = half_of(both->tensors, i);
        SIM_TRY(parse_scale(infer, both, &half, sim_attention_integer(infer->in_call, "antiquantMode", 0),
                            i == 0 ? infer->in_queries.vi_columns : infer->in_outs.vi_columns, views[i]));
    }
    return ACL_SUCCESS;
}

static aclnnStatus parse_one(const struct sim_infer *infer, const char *name, const char *mode, int64_t columns,
                             struct sim_attention_view *view)
{
    const aclsimArgument *scale = sim_attention_argument(infer->in_call, name);
    if (scale == NULL)
        return ACL_SUCCESS;
    return parse_scale(infer, scale, scale->tensors, sim_attention_integer(infer->in_call, mode, 0), columns, view);
}

/* Scales of an int8 cache; its own ones for keys and values win. */
static aclnnStatus parse_caches(struct sim_infer *infer)
{
    const int64_t columns = infer->in_queries.vi_columns, width = infer->in_outs.vi_columns;
    const bool is_plain = infer->in_key->tensors->type != ACL_INT8;
    const bool has_own = sim_attention_argument(infer->in_call, "keyAntiquantScale") != NULL &&
                         sim_attention_argument(infer->in_call, "valueAntiquantScale") != NULL;
    if (is_plain)
        return ACL_SUCCESS;
    SIM_ARGUMENT(has_own || sim_attention_argument(infer->in_call, "antiquantScale") != NULL, ACLNN_ERR_PARAM_INVALID,
                 "key is int8, expected scales of keys and values beside it");
    if (!has_own) {
        SIM_TRY(parse_both(infer, "antiquantScale", &infer->in_key_scale, &infer->in_value_scale));
        return parse_both(infer, "antiquantOffset", &infer->in_key_offset, &infer->in_value_offset);
    }
    SIM_TRY(parse_one(infer, "keyAntiquantScale", "keyAntiquantMode", columns, &infer->in_key_scale));
    SIM_TRY(parse_one(infer, "keyAntiquantOffset", "keyAntiquantMode", columns, &infer->in_key_offset));
    SIM_TRY(parse_one(infer, "valueAntiquantScale", "valueAntiquantMode", width, &infer->in_value_scale));
    return parse_one(infer, "valueAntiquantOffset", "valueAntiquantMode", width, &infer->in_value_offset);
}

/* The scale and offset of an int8 result. */
static aclnnStatus parse_quant(struct sim_infer *infer)
{
    const aclsimArgument *const both[] = {sim_attention_argument(infer->in_call, "quantScale2"),
                                          sim_attention_argument(infer->in_call, "quantOffset2")};
    struct sim_attention_view *const views[] = {&infer->in_quant, &infer->in_quant_offset};
    const bool is_integer = infer->in_out->tensors->type == ACL_INT8;
    SIM_ARGUMENT((both[0] != NULL) == is_integer && (both[1] == NULL || is_integer), ACLNN_ERR_PARAM_INVALID,
                 "attentionOut is %s and quantScale2 is %s, expected the scale beside an int8 result only",
                 sim_element_name(infer->in_out->tensors->type), both[0] == NULL ? "absent" : "given");
    for (size_t i = 0; i < 2; i++)
        if (both[i] != NULL) {
            SIM_TRY(sim_require_type(both[i], SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_BF16)));
            SIM_TRY(view_scale(both[i], both[i]->tensors, infer->in_heads, infer->in_outs.vi_columns, views[i]));
        }
    return ACL_SUCCESS;
}

aclnnStatus sim_attention_infer_scales(struct sim_infer *infer)
{
    static const char *const products[] = {"deqScale1", "quantScale1", "deqScale2", "dequantScale1", "dequantScale2",
                                           "dequantScaleQuery", "keyRopeAntiquantScale"};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        SIM_ARGUMENT(sim_attention_argument(infer->in_call, products[i]) == NULL, ACLNN_ERR_PARAM_INVALID,
                     "%s is given, but the simulator does not support products of int8", products[i]);
    SIM_TRY(parse_caches(infer));
    return parse_quant(infer);
}
