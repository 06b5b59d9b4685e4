/* The frame of attention: views of operands, loading of rows, and the pass over one head.
 *
 * Scores are computed for one query and a block of keys. The keys of a block are transposed, so that the compiler
 * vectorises over keys without a change of the order in which products are added. For each row the greatest score so
 * far is kept; when it rises, what was summed before is scaled down. A key that is masked or has the weight 0 is left
 * out, so that what memory holds there does not matter. A row whose keys are all masked becomes 0. */
#include "attention.h"
#include "report.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERIES SIM_ATTENTION_QUERIES
#define KEYS SIM_ATTENTION_KEYS

/* ---- arguments ---- */

const aclsimArgument *sim_attention_argument(const aclsimCall *call, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < call->argumentCount; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        if (strncmp(argument->name, name, length) != 0)
            continue;
        if (argument->name[length] == '\0' || strcmp(argument->name + length, "Optional") == 0)
            return argument->present ? argument : NULL;
    }
    return NULL;
}

int64_t sim_attention_integer(const aclsimCall *call, const char *name, int64_t missing)
{
    const aclsimArgument *argument = sim_attention_argument(call, name);
    return argument == NULL ? missing : argument->integer;
}

double sim_attention_number(const aclsimCall *call, const char *name, double missing)
{
    const aclsimArgument *argument = sim_attention_argument(call, name);
    return argument == NULL ? missing : argument->number;
}

const aclsimArgument *sim_attention_array(const aclsimCall *call, const char *name)
{
    const aclsimArgument *argument = sim_attention_argument(call, name);
    return argument == NULL || argument->count == 0 ? NULL : argument;
}

aclnnStatus sim_attention_layout(const aclsimCall *call, const char *layouts, const char **layout)
{
    const aclsimArgument *argument = sim_attention_argument(call, "inputLayout");
    char word[16]; /* longer than any layout */
    *layout = argument == NULL ? "BSH" : argument->text;
    const int length = snprintf(word, sizeof word, " %s ", *layout);
    if (length < (int)sizeof word && strchr(*layout, ' ') == NULL && strstr(layouts, word) != NULL)
        return ACL_SUCCESS;
    sim_report_text("inputLayout", layouts);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "inputLayout is \"%.40s\", expected one of%s", *layout, layouts);
}

/* Numbers that are cut to this are further away than any key. */
static int64_t cut(int64_t tokens)
{
    return tokens > SIM_ATTENTION_FAR ? SIM_ATTENTION_FAR : tokens < -SIM_ATTENTION_FAR ? -SIM_ATTENTION_FAR : tokens;
}

int64_t sim_attention_start(const aclsimCall *call, const char *name)
{
    const aclsimArgument *start = sim_attention_array(call, name);
    return start == NULL ? 0 : cut(start->integers[0]);
}

/* ---- views ---- */

/* The stride of a dimension. Where it does not matter it may be anything, and becomes 0. */
static int64_t stride_of(const aclsimTensor *tensor, uint32_t k)
{
    return tensor->dims[k] == 1 || sim_walk_is_empty(tensor->dims, tensor->rank) ? 0 : tensor->strides[k];
}

static void add_dim(struct sim_attention_view *view, char letter, int64_t dim, int64_t stride)
{
    switch (letter) {
    case 'B':
        view->vi_batches = dim;
        view->vi_batch = stride;
        break;
    case 'N':
        view->vi_heads = dim;
        view->vi_head = stride;
        break;
    case 'D':
        view->vi_columns = dim;
        view->vi_column = stride;
        break;
    default:
        view->vi_rows = dim;
        view->vi_row = stride;
    }
}

struct sim_attention_view sim_attention_spread(const aclsimTensor *tensor, const char *layout)
{
    struct sim_attention_view view = {.vi_data = tensor->data, .vi_type = tensor->type, .vi_batches = 1,
                                      .vi_heads = 1, .vi_rows = 1, .vi_columns = 1};
    for (uint32_t k = 0; k < tensor->rank; k++)
        add_dim(&view, layout[k], tensor->dims[k], stride_of(tensor, k));
    return view;
}

aclnnStatus sim_attention_view(const char *name, const aclsimTensor *tensor, const char *layout, int64_t heads,
                               struct sim_attention_view *view)
{
    const uint32_t rank = (uint32_t)strcspn(layout, "_");
    if (tensor->rank != rank)
        sim_report_rank(name, rank);
    SIM_ARGUMENT(tensor->rank == rank, ACLNN_ERR_PARAM_INVALID, "%s has %u dimensions, expected %u for layout %.*s",
                 name, tensor->rank, rank, (int)rank, layout);
    *view = (struct sim_attention_view){.vi_data = tensor->data, .vi_type = tensor->type, .vi_batches = 1,
                                        .vi_heads = heads, .vi_rows = 1, .vi_columns = 1};
    for (uint32_t k = 0; k < rank; k++) {
        const int64_t dim = tensor->dims[k], stride = stride_of(tensor, k);
        if (layout[k] != 'H') {
            add_dim(view, layout[k], dim, stride);
            continue;
        }
        SIM_ARGUMENT(dim % heads == 0, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %" PRId64 ", expected a multiple of %" PRId64 ", the number of heads", k,
                     name, dim, heads);
        view->vi_columns = dim / heads;
        view->vi_column = stride;
        view->vi_head = view->vi_columns * stride;
    }
    SIM_ARGUMENT(view->vi_heads == heads, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " heads, expected %" PRId64 ", the number of heads", name, view->vi_heads, heads);
    SIM_ARGUMENT(view->vi_rows <= SIM_ATTENTION_FAR, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows, expected at most %" PRId64, name, view->vi_rows, SIM_ATTENTION_FAR);
    return ACL_SUCCESS;
}

static int64_t size_of(aclDataType type)
{
    return (int64_t)sim_element_size(type);
}

struct sim_attention_rows sim_attention_rows_at(const struct sim_attention_view *view, int64_t batch, int64_t head,
                                                int64_t row)
{
    const int64_t offset = batch * view->vi_batch + head * view->vi_head + row * view->vi_row;
    if (view->vi_data == NULL)
        return (struct sim_attention_rows){0};
    return (struct sim_attention_rows){view->vi_data + offset * size_of(view->vi_type), view->vi_type, view->vi_row,
                                       view->vi_column};
}

/* ---- numbers in rows ---- */

static void load_numbers(const char *place, aclDataType type, int64_t stride, int64_t count, float *numbers)
{
    union sim_block_values block;
    for (int64_t done = 0; done < count; done += SIM_BLOCK) {
        const size_t length = sim_element_block(done, count);
        sim_element_load(&block, SIM_CLASS_FLOAT, place + done * stride * size_of(type), type, stride, length);
        memcpy(numbers + done, block.bv_floats, length * sizeof *numbers);
    }
}

void sim_attention_load(const struct sim_attention_rows *rows, int64_t row, int64_t count, float *numbers)
{
    load_numbers(rows->ro_place + row * rows->ro_row * size_of(rows->ro_type), rows->ro_type, rows->ro_column, count,
                 numbers);
}

void sim_attention_store(const struct sim_attention_rows *rows, int64_t row, int64_t count, const float *numbers)
{
    union sim_block_values block;
    char *place = rows->ro_place + row * rows->ro_row * size_of(rows->ro_type);
    for (int64_t done = 0; done < count; done += SIM_BLOCK) {
        const size_t length = sim_element_block(done, count);
        memcpy(block.bv_floats, numbers + done, length * sizeof *numbers);
        sim_element_store(&block, SIM_CLASS_FLOAT, place + done * rows->ro_column * size_of(rows->ro_type),
                          rows->ro_type, rows->ro_column, length);
    }
}

/* ---- keys and values ---- */

static int64_t page_of(const struct sim_attention_source *source, int64_t number)
{
    const struct sim_attention_view *table = &source->so_table;
    const int64_t offset = source->so_batch * table->vi_row + number * table->vi_column;
    int32_t page;
    memcpy(&page, table->vi_data + offset * (int64_t)sizeof page, sizeof page);
    return page;
}

aclError sim_attention_check_pages(const struct sim_attention_source *source, int64_t rows, const char *name)
{
    const int64_t size = source->so_view.vi_rows, pages = source->so_view.vi_batches;
    for (int64_t i = 0; i * size < rows; i++) {
        const int64_t page = page_of(source, i);
        if (page < 0 || page >= pages) {
            char text[192];
            snprintf(text, sizeof text,
                     "%.40s[%" PRId64 ", %" PRId64 "] is %" PRId64 ", expected 0 to %" PRId64 ", the last block of key",
                     name, source->so_batch, i, page, pages - 1);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
    }
    return ACL_SUCCESS;
}

/* Loads the numbers of a key or value; `other` is memory for as many numbers. */
static void load_source(const struct sim_attention_source *source, int64_t key, int64_t count, float *numbers,
                        float *other)
{
    const bool is_shared = key < source->so_prefix_rows;
    const struct sim_attention_view *view = is_shared ? &source->so_prefix : &source->so_view;
    const int64_t number = is_shared ? key : key - source->so_prefix_rows + source->so_first;
    int64_t batch = is_shared ? 0 : source->so_batch, row = number;
    if (!is_shared && source->so_table.vi_data != NULL) {
        batch = page_of(source, number / view->vi_rows);
        if (batch < 0 || batch >= view->vi_batches)
            batch = 0; /* the table has changed after it was checked */
        row = number % view->vi_rows;
    }
    const struct sim_attention_rows rows = sim_attention_rows_at(view, batch, source->so_head, row);
    sim_attention_load(&rows, 0, count, numbers);
    if (source->so_offset.vi_data != NULL) {
        const struct sim_attention_rows offsets =
            sim_attention_rows_at(&source->so_offset, source->so_batch, source->so_head, number);
        sim_attention_load(&offsets, 0, count, other);
        for (int64_t c = 0; c < count; c++)
            numbers[c] += other[c];
    }
    if (source->so_scale.vi_data != NULL) {
        const struct sim_attention_rows scales =
            sim_attention_rows_at(&source->so_scale, source->so_batch, source->so_head, number);
        sim_attention_load(&scales, 0, count, other);
        for (int64_t c = 0; c < count; c++)
            numbers[c] *= other[c];
    }
}

int64_t sim_attention_block(const struct sim_attention_head *head, int64_t key)
{
    return head->he_keys - key < KEYS ? head->he_keys - key : KEYS;
}

void sim_attention_load_query(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t i,
                              size_t at)
{
    sim_attention_load(&head->he_query, i, head->he_plain, tile->ti_queries[at]);
    if (head->he_rope != 0)
        sim_attention_load(&head->he_query_rope, i, head->he_rope, tile->ti_queries[at] + head->he_plain);
}

void sim_attention_load_keys(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t key,
                             int64_t count)
{
    const int64_t depth = head->he_plain + head->he_rope;
    for (int64_t k = 0; k < count; k++) {
        load_source(&head->he_key, key + k, head->he_plain, tile->ti_line, tile->ti_other);
        if (head->he_rope != 0)
            load_source(&head->he_key_rope, key + k, head->he_rope, tile->ti_line + head->he_plain, tile->ti_other);
        for (int64_t c = 0; c < depth; c++)
            tile->ti_keys[c][k] = tile->ti_line[c];
        load_source(&head->he_value, key + k, head->he_width, tile->ti_values[k], tile->ti_other);
    }
}

/* ---- scores ---- */

/* Adds the shift to products, which it multiplies by the scale. */
static void shift_scores(const struct sim_attention_head *head, int64_t i, int64_t key, int64_t count, float *scores,
                         float *shifts)
{
    const float scale = head->he_scale, slope = head->he_slope;
    if (head->he_shift == SIM_SHIFT_AFTER || head->he_shift == SIM_SHIFT_BEFORE) {
        const struct sim_attention_rows *pse = &head->he_pse;
        const struct sim_attention_rows part = {pse->ro_place + key * pse->ro_column * size_of(pse->ro_type),
                                                pse->ro_type, pse->ro_row, pse->ro_column};
        sim_attention_load(&part, i, count, shifts);
    }
    for (int64_t k = 0; k < count; k++) {
        const float apart = fabsf((float)(i + head->he_apart - key - k));
        switch (head->he_shift) {
        case SIM_SHIFT_AFTER:
            scores[k] = scores[k] * scale + shifts[k];
            break;
        case SIM_SHIFT_BEFORE:
            scores[k] = (scores[k] + shifts[k]) * scale;
            break;
        case SIM_SHIFT_LINEAR:
            scores[k] = scores[k] * scale - slope * apart;
            break;
        case SIM_SHIFT_ROOT:
            scores[k] = scores[k] * scale - slope * sqrtf(apart);
            break;
        default:
            scores[k] *= scale;
        }
    }
}

static void mask_scores(const struct sim_attention_head *head, int64_t i, int64_t key, int64_t count, float *scores,
                        float *masks)
{
    if (key < i + head->he_first || key + count - 1 > i + head->he_last)
        for (int64_t k = 0; k < count; k++)
            if ((key + k < i + head->he_first || key + k > i + head->he_last) && key + k >= head->he_shared)
                scores[k] = -INFINITY;
    if (head->he_mask.ro_place == NULL)
        return;
    const struct sim_attention_rows *mask = &head->he_mask;
    const struct sim_attention_rows part = {mask->ro_place + key * mask->ro_column * size_of(mask->ro_type),
                                            mask->ro_type, mask->ro_row, mask->ro_column};
    sim_attention_load(&part, i, count, masks);
    for (int64_t k = 0; k < count; k++)
        if (masks[k] != 0)
            scores[k] = -INFINITY;
}

void sim_attention_score(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t i, size_t at,
                         int64_t key, int64_t count)
{
    float *scores = tile->ti_scores;
    const float *query = tile->ti_queries[at];
    const int64_t depth = head->he_plain + head->he_rope;
    memset(scores, 0, sizeof tile->ti_scores);
    for (int64_t c = 0; c < depth; c++) {
        const float *keys = tile->ti_keys[c], number = query[c];
        for (size_t k = 0; k < KEYS; k++) /* those after the last key are not used */
            scores[k] += number * keys[k];
    }
    shift_scores(head, i, key, count, scores, tile->ti_numbers);
    mask_scores(head, i, key, count, scores, tile->ti_numbers);
}

float sim_attention_kept(const struct sim_attention_head *head, int64_t i, int64_t key)
{
    const uint64_t bit = head->he_bit + (uint64_t)(i * head->he_keys + key);
    const char *place = head->he_drop.ro_place + (int64_t)(bit / 8) * head->he_drop.ro_column;
    return (*(const unsigned char *)place >> bit % 8 & 1) != 0 ? head->he_kept : 0;
}

/* ---- the pass over a head ---- */

/* Adds the block's keys to row `at`, the sums of query i. */
static void add_keys(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t i, size_t at,
                     int64_t key, int64_t count)
{
    const float *scores = tile->ti_scores, before = tile->ti_most[at];
    float *part = tile->ti_other, *out = tile->ti_outs[at], most = before;
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        most = scores[k] > most ? scores[k] : most;
    const float base = most == -INFINITY ? 0 : most, factor = before < most ? expf(before - most) : 1;
    memset(part, 0, (size_t)head->he_width * sizeof *part);
    for (int64_t k = 0; k < count; k++) {
        float weight = expf(scores[k] - base);
        const float *values = tile->ti_values[k];
        sum += weight;
        if (head->he_drop.ro_place != NULL)
            weight *= sim_attention_kept(head, i, key + k);
        if (weight == 0)
            continue;
        for (int64_t c = 0; c < head->he_width; c++)
            part[c] += weight * values[c];
    }
    for (int64_t c = 0; c < head->he_width; c++)
        out[c] = out[c] * factor + part[c];
    tile->ti_sums[at] = tile->ti_sums[at] * factor + sum;
    tile->ti_most[at] = most;
}

static void quantize(const struct sim_attention_head *head, struct sim_attention_tile *tile, float *out)
{
    float *numbers = tile->ti_line;
    sim_attention_load(&head->he_quant, 0, head->he_width, numbers);
    for (int64_t c = 0; c < head->he_width; c++)
        out[c] *= numbers[c];
    if (head->he_quant_offset.ro_place != NULL) {
        sim_attention_load(&head->he_quant_offset, 0, head->he_width, numbers);
        for (int64_t c = 0; c < head->he_width; c++)
            out[c] += numbers[c];
    }
    for (int64_t c = 0; c < head->he_width; c++)
        out[c] = rintf(out[c]);
}

/* Writes a statistic of query i to all `count` columns of its row. */
static void put_number(const struct sim_attention_rows *rows, int64_t i, int64_t count, float number)
{
    float numbers[SIM_ATTENTION_COPIES];
    for (size_t c = 0; c < SIM_ATTENTION_COPIES; c++)
        numbers[c] = number;
    if (rows->ro_place != NULL)
        sim_attention_store(rows, i, count, numbers);
}

static void finish(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t i, size_t at)
{
    float *out = tile->ti_outs[at];
    double sum = tile->ti_sums[at], most = tile->ti_most[at], share = 1;
    const bool sees_nothing = sum == 0;
    if (head->he_has_sink) {
        const double top = fmax(most, head->he_sink);
        share = exp(most - top);
        sum = sum * share + exp(head->he_sink - top);
        most = top;
    }
    for (int64_t c = 0; c < head->he_width; c++)
        out[c] = sees_nothing ? 0 : (float)(out[c] * share / sum);
    if (head->he_quant.ro_place != NULL)
        quantize(head, tile, out);
    sim_attention_store(&head->he_out, i, head->he_width, out);
    put_number(&head->he_lse, i, 1, sees_nothing ? INFINITY : (float)(most + log(sum)));
    put_number(&head->he_most, i, SIM_ATTENTION_COPIES, isnan(sum) ? NAN : sum == 0 ? -FLT_MAX : (float)most);
    put_number(&head->he_sum, i, SIM_ATTENTION_COPIES, (float)sum);
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* Computes `count` queries. Keys that none of them sees are not read. */
static void run_tile(const struct sim_attention_head *head, struct sim_attention_tile *tile, int64_t first,
                     int64_t count)
{
    int64_t low = first + head->he_first, end = least(first + count + head->he_last, head->he_keys);
    low = low < 0 || head->he_shared > 0 ? 0 : low;
    end = end < head->he_shared ? least(head->he_shared, head->he_keys) : end;
    for (int64_t i = 0; i < count; i++) {
        sim_attention_load_query(head, tile, first + i, (size_t)i);
        memset(tile->ti_outs[i], 0, (size_t)head->he_width * sizeof tile->ti_outs[i][0]);
        tile->ti_most[i] = -INFINITY;
        tile->ti_sums[i] = 0;
    }
    for (int64_t key = low; key < end; key += KEYS) {
        const int64_t length = least(sim_attention_block(head, key), end - key);
        sim_attention_load_keys(head, tile, key, length);
        for (int64_t i = 0; i < count; i++) {
            sim_attention_score(head, tile, first + i, (size_t)i, key, length);
            add_keys(head, tile, first + i, (size_t)i, key, length);
        }
    }
    for (int64_t i = 0; i < count; i++)
        finish(head, tile, first + i, (size_t)i);
}

void sim_attention_forward(const struct sim_attention_head *head, struct sim_attention_tile *tile)
{
    for (int64_t i = 0; i < head->he_queries; i += QUERIES)
        run_tile(head, tile, i, least(QUERIES, head->he_queries - i));
}

aclError sim_attention_reserve(struct sim_attention_tile **tile)
{
    *tile = calloc(1, sizeof **tile);
    SIM_CHECK(*tile != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate %zu bytes of host memory for attention",
              sizeof **tile);
    return ACL_SUCCESS;
}

/* ---- bands ---- */

void sim_attention_set_band(struct sim_attention_head *head, int64_t mode, int64_t before, int64_t after)
{
    const int64_t corner = mode == 3 || mode == 4 ? head->he_keys - head->he_queries : 0;
    const bool is_band = mode == 0 || mode == 4;
    head->he_first = is_band ? corner - cut(before) : -SIM_ATTENTION_FAR;
    head->he_last = mode == 1 ? SIM_ATTENTION_FAR : corner + (is_band ? cut(after) : 0);
}
