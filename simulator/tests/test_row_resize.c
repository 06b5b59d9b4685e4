/* Outputs whose size the kernel finds: the shape of the descriptor after the task, also after each replay, while other
 * threads use the descriptor, and when it was destroyed. */
#include "capture.h"
#include <aclnnop/aclnn_masked_select.h>
#include <aclnnop/aclnn_nonzero.h>
#include <aclnnop/aclnn_nonzero_v2.h>

enum { ROWS = 2, COLUMNS = 3, COUNT = ROWS * COLUMNS, RANK = 2 };

static float *values;   /* self */
static int64_t *places; /* out: room for the indices of all elements */

/* Element i becomes 1 if bit i is set, otherwise 0. */
static void fill(unsigned bits)
{
    float host[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        host[i] = (float)(bits >> i & 1);
    CHECK_CODE(aclrtMemcpy(values, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

static int64_t count_of(unsigned bits)
{
    return __builtin_popcount(bits);
}

static aclTensor *tensor(int64_t rows, int64_t columns, aclDataType type, void *data)
{
    const int64_t dims[] = {rows, columns};
    aclTensor *made = aclCreateTensor(dims, 2, type, NULL, 0, ACL_FORMAT_ND, dims, 2, data);
    CHECK(made != NULL);
    return made;
}

static aclTensor *make_self(void)
{
    return tensor(ROWS, COLUMNS, ACL_FLOAT, values);
}

static aclTensor *make_out(void)
{
    return tensor(COUNT, RANK, ACL_INT64, places);
}

static void nonzero(aclTensor *self, aclTensor *out)
{
    uint64_t size;
    aclOpExecutor *executor;
    CHECK_CODE(aclnnNonzeroGetWorkspaceSize(self, out, &size, &executor), 0);
    CHECK(size == 0);
    CHECK_CODE(aclnnNonzero(NULL, 0, executor, origin), 0);
}

static void check_shape(const aclTensor *out, int64_t rows, int64_t columns)
{
    int64_t *dims, *strides;
    uint64_t rank, count;
    CHECK_CODE(aclGetViewShape(out, &dims, &rank), 0);
    CHECK_CODE(aclGetViewStrides(out, &strides, &count), 0);
    CHECK(rank == 2 && count == 2 && dims[0] == rows && dims[1] == columns);
    CHECK(strides[0] == columns && strides[1] == 1);
    free(dims);
    free(strides);
}

/* The indices in the output are those of the elements that are not 0. */
static void check_places(unsigned bits)
{
    int64_t host[COUNT][RANK], next = 0;
    CHECK_CODE(aclrtMemcpy(host, sizeof host, places, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    for (int64_t i = 0; i < COUNT; i++)
        if ((bits >> i & 1) != 0) {
            CHECK(host[next][0] == i / COLUMNS && host[next][1] == i % COLUMNS);
            next++;
        }
}

/* ---- a live descriptor ---- */

static void test_live(void)
{
    aclTensor *self = make_self(), *out = make_out();
    uint64_t size;
    aclOpExecutor *executor;
    CHECK_CODE(aclnnNonzeroGetWorkspaceSize(self, out, &size, &executor), 0);
    CHECK_CODE(aclSetAclOpExecutorRepeatable(executor), 0);
    check_shape(out, COUNT, RANK); /* the first phase changes nothing */
    const unsigned patterns[] = {0x15, 0, 0x3f, 0x20};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        fill(patterns[i]);
        CHECK_CODE(aclsimStreamHold(origin), 0);
        CHECK_CODE(aclnnNonzero(NULL, 0, executor, origin), 0);
        check_shape(out, i == 0 ? COUNT : count_of(patterns[i - 1]), RANK); /* the task has not run */
        CHECK_CODE(aclsimStreamRelease(origin), 0);
        CHECK_CODE(aclrtSynchronizeStream(origin), 0);
        check_shape(out, count_of(patterns[i]), RANK);
        check_places(patterns[i]);
    }
    CHECK_CODE(aclDestroyAclOpExecutor(executor), 0);
    CHECK_CODE(aclDestroyTensor(self), 0);
    CHECK_CODE(aclDestroyTensor(out), 0);
}

/* The rows of V2 are as long as there are elements, and the result of MaskedSelect has one dimension. */
static void test_other_layouts(void)
{
    const int64_t most = COUNT;
    uint64_t size, rank;
    int64_t *dims, host[4];
    aclOpExecutor *executor;
    aclTensor *self = make_self(), *out = tensor(RANK, COUNT, ACL_INT64, places);
    fill(0x0a); /* elements [0, 1] and [1, 0] */
    CHECK_CODE(aclnnNonzeroV2GetWorkspaceSize(self, out, &size, &executor), 0);
    CHECK_CODE(aclnnNonzeroV2(NULL, size, executor, origin), 0);
    CHECK_CODE(aclrtSynchronizeStream(origin), 0);
    check_shape(out, RANK, 2);
    CHECK_CODE(aclrtMemcpy(host, sizeof host, places, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(host[0] == 0 && host[1] == 1 && host[2] == 1 && host[3] == 0);
    CHECK_CODE(aclDestroyTensor(out), 0);

    fill(0x3f);
    aclTensor *mask = tensor(1, COLUMNS, ACL_UINT8, values); /* the bytes 0, 0 and 0x80 of the float 1 */
    out = aclCreateTensor(&most, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &most, 1, places);
    CHECK_CODE(aclnnMaskedSelectGetWorkspaceSize(self, mask, out, &size, &executor), 0);
    CHECK_CODE(aclnnMaskedSelect(NULL, size, executor, origin), 0);
    CHECK_CODE(aclrtSynchronizeStream(origin), 0);
    CHECK_CODE(aclGetViewShape(out, &dims, &rank), 0);
    CHECK(rank == 1 && dims[0] == ROWS);
    free(dims);
    aclTensor *all[] = {self, mask, out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_CODE(aclDestroyTensor(all[i]), 0);
}

/* ---- a destroyed descriptor ---- */

/* Only the data are written; a later tensor in the same slot keeps its shape. */
static void test_destroyed(void)
{
    aclTensor *self = make_self(), *out = make_out();
    fill(0x2a);
    CHECK_CODE(aclsimStreamHold(origin), 0);
    nonzero(self, out);
    CHECK_CODE(aclDestroyTensor(out), 0);
    aclTensor *later = make_out();
    CHECK(later != out && sim_handle_index((uint64_t)(uintptr_t)later) == sim_handle_index((uint64_t)(uintptr_t)out));
    CHECK_CODE(aclsimStreamRelease(origin), 0);
    CHECK_CODE(aclrtSynchronizeStream(origin), 0);
    check_places(0x2a);
    check_shape(later, COUNT, RANK);
    CHECK_CODE(aclDestroyTensor(self), 0);
    CHECK_CODE(aclDestroyTensor(later), 0);
}

/* ---- replays ---- */

static aclmdlRI capture(aclTensor *self, aclTensor *out)
{
    begin(origin);
    nonzero(self, out);
    return end(origin);
}

static void test_replays(void)
{
    aclTensor *self = make_self(), *out = make_out();
    aclmdlRI instance = capture(self, out);
    CHECK_CODE(aclDestroyTensor(self), 0);
    check_shape(out, COUNT, RANK);
    for (unsigned bits = 0; bits < 1u << COUNT; bits += 5) {
        fill(bits);
        run(instance, launching);
        check_shape(out, count_of(bits), RANK);
        check_places(bits);
    }
    CHECK_CODE(aclDestroyTensor(out), 0);
    fill(0x33);
    run(instance, launching);
    check_places(0x33);
    destroy(instance);
}

/* ---- threads ---- */

static _Atomic bool over;

/* Each shape that is read is that of a replay, or the one that the tensor was created with. */
static void *read_shape(void *out)
{
    while (!atomic_load(&over)) {
        int64_t *dims;
        uint64_t rank;
        CHECK_CODE(aclGetViewShape(out, &dims, &rank), 0);
        CHECK(rank == 2 && dims[1] == RANK && (dims[0] == 1 || dims[0] == 3 || dims[0] == COUNT));
        free(dims);
        sched_yield();
    }
    return NULL;
}

/* Gives the tensor again the properties that it was created with. */
static void *set_shape(void *out)
{
    const int64_t dims[] = {COUNT, RANK};
    while (!atomic_load(&over)) {
        CHECK_CODE(aclInitTensor(out, dims, 2, ACL_INT64, NULL, 0, ACL_FORMAT_ND, dims, 2, places), 0);
        sched_yield();
    }
    return NULL;
}

static void test_threads(void)
{
    aclTensor *self = make_self(), *out = make_out();
    aclmdlRI instance = capture(self, out);
    pthread_t readers[2], setter;
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        readers[i] = start(read_shape, out);
    setter = start(set_shape, out);
    for (int i = 0; i < 200; i++) {
        fill(i % 2 == 0 ? 0x10 : 0x07);
        run(instance, launching);
    }
    CHECK_CODE(aclDestroyTensor(self), 0);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    pthread_join(setter, NULL);
    destroy(instance);
    CHECK_CODE(aclDestroyTensor(out), 0);
}

static void tests(bool parallel)
{
    (void)parallel;
    make_streams();
    CHECK_CODE(aclrtMalloc((void **)&values, COUNT * sizeof *values, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMalloc((void **)&places, COUNT * RANK * sizeof *places, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    test_live();
    test_other_layouts();
    test_destroyed();
    test_replays();
    test_threads();
    CHECK_CODE(aclrtFree(values), 0);
    CHECK_CODE(aclrtFree(places), 0);
    destroy_streams();
}

int main(void)
{
    watch_dog(60);
    test_schedules(tests);
    return 0;
}
