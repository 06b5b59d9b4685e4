/* Random numbers as tasks: Philox 4x32-10, keyed with the seed. Number i uses block i behind the 128-bit offset in
 * device memory, so that a sequence does not depend on how it is split; the offset itself is not changed. The
 * documentation names neither the generator nor the size of the offset (16 bytes here), nor the meaning of a set mask
 * bit (the element is kept).
 *
 * A task owns its ranges and a copy of its parameters. This file has no state and no lock. */
#include "address/memory.h"
#include "base/bytes.h"
#include "base/philox.h"
#include "base/type.h"
#include "engine/recorder.h"
#include "task_system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_BYTES 16
#define MOST_RANGES 7 /* result, offset, parameters, and up to four values that are stored in device memory */
#define CUT 2.0       /* a truncated normal distribution is cut at this many standard deviations */

typedef aclrtRandomParaInfo para_info;

struct random_task {
    struct sim_range rm_ranges[MOST_RANGES];
    size_t rm_range_count;
    aclrtRandomNumTaskInfo rm_info;
};

static bool is_float(aclDataType type)
{
    return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
}

static uint32_t bytes_of(aclDataType type)
{
    return sim_type_bits(type) / 8;
}

/* The parameters of a distribution: one or two of the same type. */
static const para_info *values_of(const aclrtRandomNumTaskInfo *info, uint32_t *count)
{
    *count = info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK ? 1 : 2;
    return (const void *)&info->randomNumFuncParaInfo.paramInfo;
}

/* `bytes` 0 allows 4 and 8. */
static aclError check_para(const para_info *para, uint32_t bytes, const char *name)
{
    SIM_CHECK(para->isAddr <= 1, ACL_ERROR_RT_PARAM_INVALID, "%s.isAddr is %u, expected 0 (a value) or 1 (an address)",
              name, para->isAddr);
    bool fits = bytes != 0 ? para->size == bytes : para->size == 4 || para->size == 8;
    SIM_CHECK(para->isAddr == 1 || fits, ACL_ERROR_RT_PARAM_INVALID, "%s.size is %u, expected %u bytes", name,
              para->size, bytes != 0 ? bytes : 8);
    return ACL_SUCCESS;
}

aclError sim_task_random_check(const aclrtRandomNumTaskInfo *info)
{
    uint32_t count;
    aclDataType type = info->dataType;
    unsigned function = (unsigned)info->randomNumFuncParaInfo.funcType;
    bool known = is_float(type) || type == ACL_INT32 || type == ACL_INT64 || type == ACL_UINT32 || type == ACL_UINT64;
    SIM_CHECK(known, ACL_ERROR_RT_PARAM_INVALID,
              "taskInfo->dataType is %d, expected float32, float16, bfloat16, or int or uint of 32 or 64 bits",
              (int)type);
    SIM_CHECK(function <= ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS, ACL_ERROR_RT_PARAM_INVALID,
              "taskInfo->randomNumFuncParaInfo.funcType is %u, expected 0 (dropout mask), 1 (uniform), 2 (normal) or 3 "
              "(truncated normal)",
              function);
    SIM_CHECK(function == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS || is_float(type), ACL_ERROR_RT_PARAM_INVALID,
              "taskInfo->dataType is %d, expected a floating-point type with funcType %u", (int)type, function);
    const para_info *values = values_of(info, &count);
    for (uint32_t i = 0; i < count; i++)
        SIM_TRY(check_para(&values[i], bytes_of(type), i == 0 ? "the first parameter" : "the second parameter"));
    SIM_TRY(check_para(&info->randomSeed, 0, "taskInfo->randomSeed"));
    return check_para(&info->randomNum, 0, "taskInfo->randomNum");
}

static void *address_of(const para_info *para)
{
    void *address;
    memcpy(&address, para->valueOrAddr, sizeof address);
    return address;
}

/* A parameter given in the call or in device memory, as the low bits of the result. */
static uint64_t value_of(const para_info *para, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, para->isAddr ? sim_memory_reach(address_of(para)) : (const void *)para->valueOrAddr, bytes);
    return value;
}

static uint32_t bytes_of_number(const para_info *para)
{
    return para->size == 4 ? 4 : 8;
}

static uint64_t number_of(const para_info *para)
{
    return value_of(para, bytes_of_number(para));
}

/* The bytes of `count` results, or UINT64_MAX if they exceed the limit. */
static uint64_t result_bytes(const aclrtRandomNumTaskInfo *info, uint64_t count)
{
    uint64_t bytes = count;
    if (info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK)
        return count / 8 + (count % 8 != 0);
    return sim_size_multiply(&bytes, bytes_of(info->dataType)) ? bytes : UINT64_MAX;
}

/* Returns the name of the first range that cannot be claimed. */
static const char *claim(struct random_task *task, const void *address, uint64_t size, bool write, const char *name)
{
    struct sim_range *range = &task->rm_ranges[task->rm_range_count++];
    *range = (struct sim_range){.rg_address = address, .rg_size = size, .rg_write = write};
    return sim_memory_try_claim(range) ? NULL : name;
}

static const char *claim_para(struct random_task *task, const para_info *para, uint32_t bytes, const char *name)
{
    return para->isAddr ? claim(task, address_of(para), bytes, false, name) : NULL;
}

/* Returns NULL, or the name of an argument that is not entirely device memory. */
static const char *make(const aclrtRandomNumTaskInfo *info, struct random_task *task)
{
    uint32_t count;
    const para_info *values = values_of(info, &count);
    uint64_t bytes = info->randomNum.isAddr ? 1 : result_bytes(info, number_of(&info->randomNum));
    memset(task, 0, sizeof *task);
    task->rm_info = *info;
    const char *wrong = claim(task, info->randomResultAddr, bytes, true, "randomResultAddr");
    if (wrong == NULL)
        wrong = claim(task, info->randomCounterAddr, COUNTER_BYTES, false, "randomCounterAddr");
    if (wrong == NULL && info->randomParaAddr != NULL)
        wrong = claim(task, info->randomParaAddr, 2 * sizeof *values, true, "randomParaAddr");
    for (uint32_t i = 0; i < count && wrong == NULL; i++)
        wrong = claim_para(task, &values[i], bytes_of(info->dataType), "the address of a parameter");
    if (wrong == NULL)
        wrong = claim_para(task, &info->randomSeed, bytes_of_number(&info->randomSeed), "the address of randomSeed");
    if (wrong == NULL)
        wrong = claim_para(task, &info->randomNum, bytes_of_number(&info->randomNum), "the address of randomNum");
    return wrong;
}

/* ---- the generator ---- */

struct generator {
    uint64_t ge_seed, ge_low, ge_high;
};

static void draw_words(const struct generator *generator, uint64_t index, uint32_t attempt, uint32_t words[4])
{
    uint64_t low = generator->ge_low + index, high = generator->ge_high + (low < index);
    words[0] = (uint32_t)low;
    words[1] = (uint32_t)(low >> 32);
    words[2] = (uint32_t)high;
    words[3] = (uint32_t)(high >> 32) ^ attempt << 24;
    sim_philox(words, generator->ge_seed);
}

static double draw(const struct generator *generator, aclrtRandomNumFuncType function, uint64_t index)
{
    uint32_t words[4];
    double value = 0;
    for (uint32_t attempt = 0; attempt < 256; attempt++) {
        draw_words(generator, index, attempt, words);
        if (function == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS)
            return sim_philox_fraction(words);
        value = sim_philox_normal(words);
        if (function != ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS || fabs(value) <= CUT)
            return value;
    }
    return 0; /* practically never: 1 in 20 numbers is rejected */
}

/* ---- running ---- */

static double float_of(aclDataType type, uint64_t bits)
{
    return type == ACL_FLOAT     ? sim_float_of_bits((uint32_t)bits)
           : type == ACL_FLOAT16 ? sim_half_to_float((uint16_t)bits)
                                 : sim_bfloat_to_float((uint16_t)bits);
}

static uint64_t bits_of(aclDataType type, double value)
{
    return type == ACL_FLOAT     ? sim_float_bits((float)value)
           : type == ACL_FLOAT16 ? sim_half_from_float((float)value)
                                 : sim_bfloat_from_float((float)value);
}

static void fill_floats(const aclrtRandomNumTaskInfo *info, const struct generator *generator, uint64_t count, char *to)
{
    uint32_t bytes = bytes_of(info->dataType), parameters;
    aclrtRandomNumFuncType function = info->randomNumFuncParaInfo.funcType;
    const para_info *values = values_of(info, &parameters);
    double first = float_of(info->dataType, value_of(&values[0], bytes));
    double second = float_of(info->dataType, value_of(&values[1], bytes));
    double scale = function == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS ? second - first : second;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = bits_of(info->dataType, first + scale * draw(generator, function, i));
        memcpy(to + i * bytes, &bits, bytes);
    }
}

static uint64_t widened(aclDataType type, uint64_t bits)
{
    return type == ACL_INT32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)bits : bits;
}

/* Integers from the first parameter up to, and without, the second. */
static void fill_integers(const aclrtRandomNumTaskInfo *info, const struct generator *generator, uint64_t count,
                          char *to)
{
    uint32_t bytes = bytes_of(info->dataType), parameters;
    const para_info *values = values_of(info, &parameters);
    uint64_t least = widened(info->dataType, value_of(&values[0], bytes));
    uint64_t span = widened(info->dataType, value_of(&values[1], bytes)) - least;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t words[4];
        draw_words(generator, i, 0, words);
        uint64_t value = least + (span == 0 ? 0 : sim_philox_joined(words) % span);
        memcpy(to + i * bytes, &value, bytes);
    }
}

static void fill_mask(const aclrtRandomNumTaskInfo *info, const struct generator *generator, uint64_t count,
                      unsigned char *to)
{
    uint32_t parameters;
    const para_info *ratio = values_of(info, &parameters);
    double dropped = float_of(info->dataType, value_of(ratio, bytes_of(info->dataType)));
    memset(to, 0, result_bytes(info, count));
    for (uint64_t i = 0; i < count; i++)
        if (draw(generator, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, i) >= dropped)
            to[i / 8] |= (unsigned char)(1u << i % 8);
}

static aclError run_random(struct sim_run *run, void *argument)
{
    const struct random_task *task = argument;
    const aclrtRandomNumTaskInfo *info = &task->rm_info;
    uint64_t count = number_of(&info->randomNum);
    struct generator generator = {.ge_seed = number_of(&info->randomSeed)};
    struct sim_range result = {.rg_address = info->randomResultAddr, .rg_size = result_bytes(info, count)};
    if (!sim_memory_try_claim(&result)) {
        run->rn_reason = "the count in device memory is larger than the result buffer";
        return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    }
    const char *offset = sim_memory_reach(info->randomCounterAddr);
    memcpy(&generator.ge_low, offset, 8);
    memcpy(&generator.ge_high, offset + 8, 8);
    if (info->randomParaAddr != NULL)
        memcpy(sim_memory_reach(info->randomParaAddr), &info->randomNumFuncParaInfo.paramInfo, 2 * sizeof(para_info));
    void *to = sim_memory_reach(info->randomResultAddr);
    if (info->randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK)
        fill_mask(info, &generator, count, to);
    else if (is_float(info->dataType))
        fill_floats(info, &generator, count, to);
    else
        fill_integers(info, &generator, count, to);
    return ACL_SUCCESS;
}

static const struct sim_range *its_ranges(const void *argument, size_t *count)
{
    const struct random_task *task = argument;
    *count = task->rm_range_count;
    return task->rm_ranges;
}

#define RANDOM_OP(flags)                                                                                               \
    {.op_name = "aclrtRandomNumAsync", .op_run = run_random, .op_ranges = its_ranges,                                  \
     .op_flags = (flags) | SIM_OP_REPLACED, .op_kind = SIM_TASK_RANDOM}
static const struct sim_op random_ops[] = {RANDOM_OP(SIM_OP_LIGHT), RANDOM_OP(0), RANDOM_OP(SIM_OP_HEAVY)};

aclError sim_task_random_queue(const aclrtRandomNumTaskInfo *info, struct sim_target stream, void *site)
{
    struct random_task task;
    const char *wrong = make(info, &task);
    SIM_CHECK(wrong == NULL, ACL_ERROR_RT_PARAM_INVALID,
              "taskInfo: %s is not in a block of device memory that is large enough", wrong);
    uint64_t bytes = info->randomNum.isAddr ? UINT64_MAX : 16 * task.rm_ranges[0].rg_size; /* generating is slow */
    return sim_engine_submit(stream, &random_ops[sim_task_weight(bytes)], &task, sizeof task, site, NULL);
}

/* ---- updates ---- */

struct random_update {
    struct sim_range ru_range; /* the bytes of the new description */
    struct sim_recorded ru_recorded;
};

/* Returns the recorded task's argument with the updatable values read from device memory, or NULL if they are
 * invalid. */
static void *updated(const void *before, void *state)
{
    const struct random_task *task = before;
    aclrtRandomNumTaskInfo info = task->rm_info, found;
    struct random_task *made = malloc(sizeof *made);
    memcpy(&found, sim_memory_reach(((const struct random_update *)state)->ru_range.rg_address), sizeof found);
    info.randomParaAddr = found.randomParaAddr;
    info.randomResultAddr = found.randomResultAddr;
    info.randomCounterAddr = found.randomCounterAddr;
    info.randomSeed = found.randomSeed;
    info.randomNum = found.randomNum;
    bool valid = made != NULL && info.randomSeed.isAddr <= 1 && info.randomNum.isAddr <= 1 && make(&info, made) == NULL;
    if (valid)
        return made;
    free(made);
    return NULL;
}

static aclError run_update(struct sim_run *run, void *argument)
{
    struct random_update *update = argument;
    if (sim_engine_recorder->rc_replace(&update->ru_recorded, updated, update))
        return ACL_SUCCESS;
    run->rn_reason = "the description in device memory is invalid, or names memory that is not allocated";
    return ACL_ERROR_RT_PARAM_INVALID;
}

aclError sim_task_random_update(struct sim_target recorded, uint32_t task, const void *address,
                                struct sim_target stream, void *site)
{
    static const struct sim_op op = {.op_name = "aclrtTaskUpdateAsync", .op_run = run_update, .op_range_count = 1,
                                     .op_flags = SIM_OP_LIGHT, .op_kind = SIM_TASK_OTHER};
    struct random_update update = {.ru_range = {.rg_address = address, .rg_size = sizeof(aclrtRandomNumTaskInfo)}};
    SIM_TRY(sim_engine_recorder->rc_find_task(recorded, task, SIM_TASK_RANDOM, &update.ru_recorded));
    SIM_TRY(sim_memory_claim(&update.ru_range, "info->val.randomTaskAttr.srcAddr"));
    return sim_engine_submit(stream, &op, &update, sizeof update, site, NULL);
}
