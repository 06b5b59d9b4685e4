/* Every value in half precision; data buffers and tensor descriptions with arbitrary handles, from many threads. */
#include "operator/tensordesc.h"
#include "check.h"
#include <math.h>
#include <pthread.h>

/* Converts half to double by the definition of the format. */
static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return half & 0x8000 ? -value : value;
}

/* Every half survives the conversion to float and back. The middle between two neighbours rounds to the even one, and a
 * float next to the middle rounds to the nearer neighbour. */
static void check_half(void)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits;
        float value = aclFloat16ToFloat(half);
        if ((bits & 0x7fff) > 0x7c00) {
            CHECK(isnan(value) && isnan(aclFloat16ToFloat(aclFloatToFloat16(value))));
            continue;
        }
        CHECK((bits & 0x7fff) == 0x7c00 ? isinf(value) : (double)value == half_value(half));
        CHECK((signbit(value) != 0) == (bits >> 15 != 0) && aclFloatToFloat16(value) == half);
        if ((bits & 0x7fff) >= 0x7bff)
            continue;
        float next = aclFloat16ToFloat(half + 1), middle = (float)(((double)value + (double)next) / 2);
        CHECK(aclFloatToFloat16(middle) == (bits & 1 ? half + 1 : half));
        CHECK(aclFloatToFloat16(nextafterf(middle, value)) == half);
        CHECK(aclFloatToFloat16(nextafterf(middle, next)) == half + 1);
    }
    CHECK(aclFloatToFloat16(65519.996f) == 0x7bff && aclFloatToFloat16(65520.0f) == 0x7c00);
    CHECK(aclFloatToFloat16(-1e30f) == 0xfc00);
    CHECK(aclFloatToFloat16(1e-30f) == 0 && aclFloatToFloat16(-1e-30f) == 0x8000);
    CHECK(aclFloatToFloat16(INFINITY) == 0x7c00 && aclFloatToFloat16(NAN) > 0x7c00);
}

static void check_handles(void)
{
    int64_t dims[] = {2, 3};
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    aclDataBuffer *buffer = aclCreateDataBuffer(dims, sizeof dims);
    CHECK(desc != NULL && buffer != NULL);
    CHECK(aclGetTensorDescSize(desc) == 24 && aclGetDataBufferSizeV2(buffer) == 16);

    const void *strange[] = {NULL, (void *)1, (void *)-1, dims, &desc, (void *)((uintptr_t)desc + 1),
                             (void *)((uintptr_t)desc ^ (uintptr_t)1 << 40), buffer};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        CHECK(aclGetTensorDescType(strange[i]) == ACL_DT_UNDEFINED);
        CHECK(aclGetTensorDescNumDims(strange[i]) == 0);
        CHECK(strcmp(aclGetTensorDescName((aclTensorDesc *)strange[i]), "") == 0);
        aclDestroyTensorDesc(strange[i]);
        if (strange[i] != buffer)
            CHECK_CODE(aclDestroyDataBuffer(strange[i]), ACL_ERROR_INVALID_PARAM);
    }
    CHECK(aclGetTensorDescSize(desc) == 24);
    CHECK_CODE(aclDestroyDataBuffer((aclDataBuffer *)desc), ACL_ERROR_INVALID_PARAM);
    CHECK_TEXT("dataBuffer is a live tensor description");
    CHECK_CODE(aclDestroyDataBuffer(buffer), 0);
    CHECK_CODE(aclDestroyDataBuffer(buffer), ACL_ERROR_INVALID_PARAM);
    CHECK_TEXT("a destroyed data buffer");
    aclDestroyTensorDesc(desc);
    int64_t dim = 7;
    CHECK_CODE(aclGetTensorDescDimV2(desc, 0, &dim), ACL_ERROR_INVALID_PARAM);
    CHECK_TEXT("a destroyed tensor description");
    CHECK(dim == 7);

    desc = aclCreateTensorDesc(ACL_FLOAT, 0, NULL, ACL_FORMAT_ND);
    sim_tensordesc_reset();
    CHECK(aclGetTensorDescType(desc) == ACL_DT_UNDEFINED);
    aclGetRecentErrMsg();
}

static aclTensorDesc *_Atomic shared;

/* All threads change and read descriptions, while one of them replaces them. */
static void *use(void *argument)
{
    int64_t dims[4] = {1, 2, 3, 4};
    for (int i = 0; i < 3000; i++) {
        aclTensorDesc *desc = atomic_load(&shared);
        aclSetTensorShape(desc, i % 5, dims);
        aclSetTensorDescName(desc, "a name");
        size_t count = aclGetTensorDescNumDims(desc);
        CHECK(count == 0 || count == 2);
        if (argument != NULL) {
            atomic_store(&shared, aclCreateTensorDesc(ACL_INT8, 2, dims, ACL_FORMAT_ND));
            aclDestroyTensorDesc(desc);
        }
    }
    return NULL;
}

static void check_threads(void)
{
    int64_t dims[2] = {1, 2};
    atomic_store(&shared, aclCreateTensorDesc(ACL_INT8, 2, dims, ACL_FORMAT_ND));
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, use, i == 0 ? dims : NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    aclDestroyTensorDesc(atomic_load(&shared));
}

int main(void)
{
    check_half();
    check_handles();
    check_threads();
    return 0;
}
