/* This file executes recorded models: pairs of inputs and outputs, found by the content of the inputs. The format is:
 *   "ACLREC01", u64 count, then each pair: u32 inputs, u32 outputs, {u64 bytes} per input,
 *   {u32 rank, u32 0, i64 dims[rank], u64 bytes} per output, then the bytes of all of them, inputs first.
 * The block is checked once, when it is opened. The model owns it; pairs point into it. They are sorted by a hash of
 * their inputs and compared byte by byte. Executions only read, so no lock is needed. */
#include "format.h"
#include <stdlib.h>
#include <string.h>

#define MAGIC "ACLREC01"
#define RANK_MAX 8

struct pair {
    uint64_t pr_hash;
    uint32_t pr_inputs, pr_outputs;
    struct sim_bytes pr_heads; /* of the outputs: rank, dims, bytes */
    struct sim_bytes pr_sizes; /* of the inputs */
    struct sim_bytes pr_data;
};

struct recording {
    uint64_t rc_count;
    struct pair rc_pairs[];
};

/* FNV-1a over 8-byte words: fast, and the comparison detects collisions. */
static uint64_t hash(uint64_t value, const void *bytes, uint64_t size)
{
    const unsigned char *at = bytes;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        value = (value ^ word) * UINT64_C(0x100000001b3);
        value ^= value >> 29;
    }
    for (; size != 0; size--, at++)
        value = (value ^ *at) * UINT64_C(0x100000001b3);
    return value;
}

/* ---- opening ---- */

static bool take_outputs(struct sim_bytes *from, struct pair *pair, uint64_t *total)
{
    struct sim_bytes begin = *from, dims;
    for (uint32_t i = 0; i < pair->pr_outputs; i++) {
        uint32_t rank, unused;
        uint64_t bytes;
        if (!sim_bytes_u32(from, &rank) || !sim_bytes_u32(from, &unused) || rank > RANK_MAX ||
            !sim_bytes_take(from, rank * sizeof(int64_t), &dims) || !sim_bytes_u64(from, &bytes) ||
            __builtin_add_overflow(*total, bytes, total))
            return false;
    }
    pair->pr_heads = (struct sim_bytes){begin.by_data, begin.by_size - from->by_size};
    return true;
}

/* Hashes the size and the bytes of each input. */
static uint64_t hash_of(const struct pair *pair)
{
    uint64_t value = 0, size;
    const unsigned char *at = pair->pr_data.by_data;
    for (struct sim_bytes sizes = pair->pr_sizes; sim_bytes_u64(&sizes, &size); at += size)
        value = hash(hash(value, &size, sizeof size), at, size);
    return value;
}

static bool take_pair(struct sim_bytes *from, struct pair *pair)
{
    uint64_t total = 0, size;
    if (!sim_bytes_u32(from, &pair->pr_inputs) || !sim_bytes_u32(from, &pair->pr_outputs) ||
        !sim_bytes_take(from, (uint64_t)pair->pr_inputs * 8, &pair->pr_sizes))
        return false;
    for (struct sim_bytes sizes = pair->pr_sizes; sim_bytes_u64(&sizes, &size);)
        if (__builtin_add_overflow(total, size, &total))
            return false;
    if (!take_outputs(from, pair, &total) || !sim_bytes_take(from, total, &pair->pr_data))
        return false;
    pair->pr_hash = hash_of(pair);
    return true;
}

static int compare(const void *left, const void *right)
{
    uint64_t one = ((const struct pair *)left)->pr_hash, other = ((const struct pair *)right)->pr_hash;
    return (one > other) - (one < other);
}

static aclError run_recorded(void *state, struct sim_run *unused, const aclsimModelRun *run,
                             char reason[SIM_REASON_BYTES]);

aclError sim_recorded_open(struct sim_bytes weights, struct sim_model_executor *executor)
{
    struct sim_bytes magic;
    uint64_t count;
    SIM_ARGUMENT(sim_bytes_take(&weights, strlen(MAGIC), &magic) && memcmp(magic.by_data, MAGIC, magic.by_size) == 0 &&
                     sim_bytes_u64(&weights, &count) && count <= weights.by_size / 8,
                 ACL_ERROR_GE_PARAM_INVALID, "the model's recorded executions do not begin with the expected header");
    struct recording *recording = calloc(1, sizeof *recording + count * sizeof *recording->rc_pairs);
    SIM_ARGUMENT(recording != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for recorded executions");
    recording->rc_count = count;
    for (uint64_t i = 0; i < count; i++)
        if (!take_pair(&weights, &recording->rc_pairs[i])) {
            free(recording);
            return sim_refuse(ACL_ERROR_GE_PARAM_INVALID, "the model ends inside its recorded execution %llu",
                              (unsigned long long)i);
        }
    qsort(recording->rc_pairs, count, sizeof *recording->rc_pairs, compare);
    *executor = (struct sim_model_executor){.me_own = run_recorded, .me_state = recording, .me_close = free};
    return ACL_SUCCESS;
}

/* ---- running ---- */

static uint64_t bytes_of(const aclsimTensor *tensor)
{
    return sim_model_shape_bytes(tensor->type, tensor->dims, tensor->rank);
}

static uint64_t hash_inputs(const aclsimModelRun *run)
{
    uint64_t value = 0;
    for (size_t i = 0; i < run->inputCount; i++) {
        uint64_t size = bytes_of(&run->inputs[i]);
        value = hash(hash(value, &size, sizeof size), run->inputs[i].data, size);
    }
    return value;
}

static bool is_equal(const struct pair *pair, const aclsimModelRun *run)
{
    const unsigned char *at = pair->pr_data.by_data;
    struct sim_bytes sizes = pair->pr_sizes;
    if (pair->pr_inputs != run->inputCount)
        return false;
    for (size_t i = 0; i < run->inputCount; i++) {
        uint64_t size;
        sim_bytes_u64(&sizes, &size);
        if (size != bytes_of(&run->inputs[i]) || memcmp(at, run->inputs[i].data, size) != 0)
            return false;
        at += size;
    }
    return true;
}

static aclError play(const struct pair *pair, const aclsimModelRun *run, char reason[SIM_REASON_BYTES])
{
    struct sim_bytes heads = pair->pr_heads, sizes = pair->pr_sizes;
    const unsigned char *at = pair->pr_data.by_data;
    for (uint64_t size; sim_bytes_u64(&sizes, &size);)
        at += size;
    strcpy(reason, "a recorded output does not fit into its buffer");
    if (pair->pr_outputs != run->outputCount)
        return ACL_ERROR_RT_MODEL_EXECUTE;
    for (size_t i = 0; i < run->outputCount; i++) {
        aclsimTensor *output = &run->outputs[i];
        uint32_t unused;
        uint64_t size, dim;
        sim_bytes_u32(&heads, &output->rank);
        sim_bytes_u32(&heads, &unused);
        for (uint32_t axis = 0; axis < output->rank; axis++) {
            sim_bytes_u64(&heads, &dim);
            output->dims[axis] = (int64_t)dim;
        }
        sim_bytes_u64(&heads, &size);
        if (size > run->capacities[i] || size != bytes_of(output))
            return ACL_ERROR_RT_MODEL_EXECUTE;
        memcpy(output->data, at, size);
        at += size;
    }
    return ACL_SUCCESS;
}

static aclError run_recorded(void *state, struct sim_run *unused, const aclsimModelRun *run,
                             char reason[SIM_REASON_BYTES])
{
    (void)unused;
    const struct recording *recording = state;
    uint64_t wanted = hash_inputs(run), low = 0, high = recording->rc_count;
    while (low < high) { /* finds the first pair with this hash or a higher one */
        uint64_t middle = low + (high - low) / 2;
        if (recording->rc_pairs[middle].pr_hash < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < recording->rc_count && recording->rc_pairs[low].pr_hash == wanted; low++)
        if (is_equal(&recording->rc_pairs[low], run))
            return play(&recording->rc_pairs[low], run, reason);
    strcpy(reason, "these inputs were not recorded: the file has outputs only for other inputs");
    return ACL_ERROR_RT_MODEL_EXECUTE;
}
