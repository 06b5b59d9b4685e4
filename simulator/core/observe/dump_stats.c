/* Statistics of a tensor as two lines: the names of the wanted statistics, and their values. NaNs and infinities are
 * counted separately and are not part of the other values. Complex numbers and types that are not numbers have only
 * a count. This file has no state and no lock. */
#include "dump.h"
#include "operator/tensordesc.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct sums {
    aclDataType su_type;
    uint64_t su_nan, su_negative_inf, su_positive_inf, su_finite;
    double su_max, su_min, su_sum, su_squares;
};

#define READ(type, name)                                                                                               \
    static double read_##name(const char *element)                                                                     \
    {                                                                                                                  \
        type value;                                                                                                    \
        memcpy(&value, element, sizeof value);                                                                         \
        return (double)value;                                                                                          \
    }
READ(float, float)
READ(double, double)
READ(int8_t, int8)
READ(int16_t, int16)
READ(int32_t, int32)
READ(int64_t, int64)
READ(uint8_t, uint8)
READ(uint16_t, uint16)
READ(uint32_t, uint32)
READ(uint64_t, uint64)

static double read_half(const char *element)
{
    uint16_t half;
    memcpy(&half, element, sizeof half);
    return (double)sim_half_to_float(half);
}

static double read_bfloat(const char *element)
{
    uint16_t upper;
    memcpy(&upper, element, sizeof upper);
    return (double)sim_float_of_bits((uint32_t)upper << 16);
}

/* Returns NULL for types that are not numbers. */
static double (*reader_of(aclDataType type))(const char *element)
{
    switch (type) {
    case ACL_FLOAT:
        return read_float;
    case ACL_DOUBLE:
        return read_double;
    case ACL_FLOAT16:
        return read_half;
    case ACL_BF16:
        return read_bfloat;
    case ACL_INT8:
        return read_int8;
    case ACL_INT16:
        return read_int16;
    case ACL_INT32:
        return read_int32;
    case ACL_INT64:
        return read_int64;
    case ACL_BOOL:
    case ACL_UINT8:
        return read_uint8;
    case ACL_UINT16:
        return read_uint16;
    case ACL_UINT32:
        return read_uint32;
    case ACL_UINT64:
        return read_uint64;
    default:
        return NULL;
    }
}

static void add(const char *element, void *user)
{
    struct sums *sums = user;
    double value = reader_of(sums->su_type)(element);
    if (isnan(value)) {
        sums->su_nan++;
    } else if (isinf(value)) {
        sums->su_positive_inf += value > 0;
        sums->su_negative_inf += value < 0;
    } else {
        sums->su_max = sums->su_finite == 0 || value > sums->su_max ? value : sums->su_max;
        sums->su_min = sums->su_finite == 0 || value < sums->su_min ? value : sums->su_min;
        sums->su_sum += value;
        sums->su_squares += value * value;
        sums->su_finite++;
    }
}

char *sim_dump_statistics(const aclsimTensor *tensor, unsigned wanted, size_t *size)
{
    struct sums sums = {.su_type = tensor->type};
    bool numbers = reader_of(tensor->type) != NULL;
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (out == NULL)
        return NULL;
    if (numbers)
        sim_dump_each(tensor, sim_type_bits(tensor->type) / 8, add, &sums);
    bool finite = sums.su_finite != 0;
    const struct {
        const char *name;
        unsigned statistic;
        double value;
        bool known;
    } columns[] = {
        {"Max", SIM_DUMP_MAX, sums.su_max, finite},
        {"Min", SIM_DUMP_MIN, sums.su_min, finite},
        {"Avg", SIM_DUMP_AVERAGE, sums.su_sum / (double)(finite ? sums.su_finite : 1), finite},
        {"Nan", SIM_DUMP_NAN, (double)sums.su_nan, numbers},
        {"Negative Inf", SIM_DUMP_NEGATIVE_INF, (double)sums.su_negative_inf, numbers},
        {"Positive Inf", SIM_DUMP_POSITIVE_INF, (double)sums.su_positive_inf, numbers},
        {"L2norm", SIM_DUMP_NORM, sqrt(sums.su_squares), finite},
    };
    fputs("Data Type,Shape", out);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (wanted & columns[i].statistic)
            fprintf(out, ",%s", columns[i].name);
    fprintf(out, "\n%d,", (int)tensor->type);
    for (uint32_t i = 0; i < tensor->rank; i++)
        fprintf(out, "%s%" PRId64, i == 0 ? "" : "x", tensor->dims[i]);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (wanted & columns[i].statistic)
            columns[i].known ? fprintf(out, ",%.9g", columns[i].value) : fputs(",", out);
    fputc('\n', out);
    return fclose(out) == 0 ? text : NULL;
}
