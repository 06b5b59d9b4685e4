/* Plans that a client asks for again by a key: what is kept, what a hit computes, and what is planned again. The client
 * goes the way of PyTorch's backend. */
#include "engine.h"
#include <aclnn/acl_meta.h>
#include <acl/abi/extra/nnopbase.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_nonzero.h>
#include <aclnnop/aclnn_sub.h>

enum { COUNT = 4, BLOCKS = 6, THREADS = 4, RUNS = 500 };

static aclrtStream stream;
static float *blocks[BLOCKS];

static void fill(float *to, float first)
{
    float host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = first + (float)i;
    CHECK_CODE(aclrtMemcpy(to, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

/* The first element of a block, after everything that is queued. */
static float first_of(const float *from)
{
    float host[COUNT];
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(host, sizeof host, from, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(host[COUNT - 1] == host[0] + 2 * (COUNT - 1));
    return host[0];
}

static void setup(void)
{
    open_device("eager");
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_CODE(aclrtMalloc((void **)&blocks[i], COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), 0);
        fill(blocks[i], (float)(100 * i));
    }
}

static aclTensor *make_tensor(void *data)
{
    int64_t dim = COUNT, stride = 1;
    aclTensor *tensor = aclCreateTensor(&dim, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &dim, 1, data);
    CHECK(tensor != NULL);
    return tensor;
}

/* Describes a call of `name` with three tensors, to be kept under `key`. */
static void describe(const char *name, uint64_t key, float *self, float *other, float *out)
{
    CHECK(CanUsePTACache(name));
    InitPTACacheThreadLocal();
    AddTensorAddrToCachedList(self);
    AddTensorAddrToCachedList(other);
    AddTensorAddrToCachedList(out);
    SetPTAHashKey(key);
}

/* The first phase of aclnnAdd. The descriptors of tensors live until the reset, because the second phase reads them. */
static aclOpExecutor *plan_add(float *self, float *other, float *out)
{
    float one = 1;
    uint64_t size = 1;
    aclOpExecutor *executor;
    aclTensor *tensors[] = {make_tensor(self), make_tensor(other), make_tensor(out)};
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    CHECK_CODE(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &size, &executor), 0);
    CHECK(size == 0);
    CHECK_CODE(aclDestroyScalar(alpha), 0);
    return executor;
}

static bool hits(uint64_t key)
{
    uint64_t size = 1;
    aclOpExecutor *executor = PTAGetExecCache(key, &size);
    if (executor == NULL)
        return false;
    CHECK(size == 0);
    CHECK_CODE(aclDestroyAclOpExecutor(executor), 0);
    return true;
}

/* Plans aclnnAdd as a client that was described so. */
static void keep(const char *name, uint64_t key, float *self, float *other, float *out)
{
    describe(name, key, self, other, out);
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[2])), 0);
    UnInitPTACacheThreadLocal();
}

static void test_a_hit_computes_at_the_listed_addresses(void)
{
    uint64_t size = 1;
    setup();
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK(PTAGetExecCache(7, &size) == NULL);
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[2])), 0);
    UnInitPTACacheThreadLocal();
    describe("aclnnAdd", 7, blocks[3], blocks[1], blocks[5]);
    aclOpExecutor *first = PTAGetExecCache(7, &size);
    UnInitPTACacheThreadLocal();
    describe("aclnnAdd", 7, blocks[4], blocks[4], blocks[2]); /* before the first executor is used */
    aclOpExecutor *second = PTAGetExecCache(7, &size);
    UnInitPTACacheThreadLocal();
    CHECK(first != NULL && second != NULL && first != second && size == 0);
    CHECK_CODE(aclnnAdd(NULL, 0, second, stream), 0);
    CHECK_CODE(aclnnAdd(NULL, 0, first, stream), 0);
    CHECK(first_of(blocks[5]) == 400 && first_of(blocks[2]) == 800);
    CHECK_CODE(aclnnAdd(NULL, 0, first, stream), ACLNN_ERR_INNER_NULLPTR); /* it is used up */
}

static void test_keys_of_bytes(void)
{
    uint8_t key[] = "aclnnAdd, four elements", other[] = "aclnnAdd, five elements";
    uint64_t size = 1;
    setup();
    describe("aclnnAdd", 0, blocks[0], blocks[1], blocks[2]);
    SetPTACacheHashKey(key, sizeof key);
    CHECK(PTAFindExecCache(key, sizeof key, &size) == NULL);
    aclOpExecutor *executor = plan_add(blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclnnAdd(NULL, 0, executor, stream), 0);
    UnInitPTACacheThreadLocal();
    describe("aclnnAdd", 0, blocks[0], blocks[1], blocks[2]);
    CHECK(PTAFindExecCache(other, sizeof other, &size) == NULL && PTAFindExecCache(key, sizeof key - 1, &size) == NULL);
    CHECK(PTAFindExecCache(NULL, sizeof key, &size) == NULL && PTAFindExecCache(key, 0, &size) == NULL);
    CHECK(PTAFindExecCache(key, sizeof key, NULL) == NULL);
    executor = PTAFindExecCache(key, sizeof key, &size);
    CHECK(executor != NULL && size == 0);
    CHECK_CODE(aclDestroyAclOpExecutor(executor), 0);
}

/* Nothing is kept without a key, of another operator or other addresses than those described, or twice. */
static void test_what_is_not_kept(void)
{
    setup();
    CHECK(!CanUsePTACache(NULL));
    keep("aclnnAdd", 0, blocks[0], blocks[1], blocks[2]);
    keep("aclnnSub", 1, blocks[0], blocks[1], blocks[2]);
    keep("aclnnAdd", 2, blocks[0], blocks[1], blocks[3]);
    CHECK(CanUsePTACache("aclnnAdd"));
    InitPTACacheThreadLocal();
    AddTensorAddrToCachedList(blocks[0]);
    SetPTAHashKey(3);
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[2])), 0);
    describe("aclnnAdd", 4, blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[3])), 0);
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[2])), 0); /* the second plan */
    describe("aclnnAdd", 5, blocks[0], blocks[1], blocks[2]);
    UnInitPTACacheThreadLocal();
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[2])), 0);
    describe("aclnnAdd", 6, blocks[0], blocks[1], blocks[2]);
    for (uint64_t key = 0; key < 6; key++)
        CHECK(!hits(key));
}

static void test_what_does_not_hit(void)
{
    aclrtContext context;
    setup();
    keep("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK(hits(7) && !hits(8) && PTAGetExecCache(7, NULL) == NULL);
    AddTensorAddrToCachedList(blocks[3]); /* more tensors than the plan has */
    CHECK(!hits(7));
    InitPTACacheThreadLocal();
    CHECK(!hits(7));
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclrtGetCurrentContext(&context), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    CHECK(!hits(7)); /* no current context */
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK(hits(7));
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK(!hits(7));
}

static void test_a_list_that_is_too_long_is_not_kept(void)
{
    setup();
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    for (int i = 0; i < 1000; i++)
        AddTensorAddrToCachedList(blocks[0]);
    CHECK_CODE(aclDestroyAclOpExecutor(plan_add(blocks[0], blocks[1], blocks[2])), 0);
    CHECK(!hits(7));
}

static aclError run_nothing(const aclsimCall *call)
{
    (void)call;
    return 0;
}

/* A program's own kernel is planned for each call, and takes the place of kept plans at once. */
static void test_registered_kernels(void)
{
    setup();
    keep("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclsimRegisterKernel("aclnnAdd", NULL, run_nothing, NULL), 0);
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK(!hits(7));
    keep("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK(!hits(7));
}

/* The kernel writes the shape of its output to the descriptor, so that there must be one. */
static void test_outputs_whose_size_the_kernel_finds(void)
{
    uint64_t size;
    int64_t dims[] = {COUNT, 1}, strides[] = {1, 1};
    void *found;
    aclOpExecutor *executor;
    setup();
    CHECK_CODE(aclrtMalloc(&found, COUNT * sizeof(int64_t), ACL_MEM_MALLOC_HUGE_FIRST), 0);
    aclTensor *self = make_tensor(blocks[1]);
    aclTensor *out = aclCreateTensor(dims, 2, ACL_INT64, strides, 0, ACL_FORMAT_ND, dims, 2, found);
    CHECK(CanUsePTACache("aclnnNonzero"));
    InitPTACacheThreadLocal();
    AddTensorAddrToCachedList(blocks[1]);
    AddTensorAddrToCachedList(found);
    SetPTAHashKey(7);
    CHECK_CODE(aclnnNonzeroGetWorkspaceSize(self, out, &size, &executor), 0);
    CHECK(!hits(7));
}

static void test_memory_is_checked_at_each_hit(void)
{
    uint64_t size;
    setup();
    keep("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclrtFree(blocks[2]), 0);
    describe("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclnnAdd(NULL, 0, PTAGetExecCache(7, &size), stream), ACLNN_ERR_RUNTIME_ERROR);
    CHECK_TEXT("out");
}

/* Watchers see both phases of each call, so that clients go through both. */
static void test_nothing_is_kept_while_somebody_watches(void)
{
    setup();
    keep("aclnnAdd", 7, blocks[0], blocks[1], blocks[2]);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("check", "memory"), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK(!CanUsePTACache("aclnnAdd") && !hits(7));
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("check", "none"), 0);
}

static void *add_often(void *argument)
{
    float *const *mine = argument;
    aclrtStream own;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&own), 0);
    for (int i = 0; i < RUNS; i++) {
        uint64_t size, key = 1 + (uint64_t)i % 3;
        describe("aclnnAdd", key, mine[0], mine[0], mine[1]);
        aclOpExecutor *executor = PTAGetExecCache(key, &size);
        if (executor == NULL)
            executor = plan_add(mine[0], mine[0], mine[1]);
        CHECK_CODE(aclnnAdd(NULL, 0, executor, own), 0);
        UnInitPTACacheThreadLocal();
    }
    CHECK_CODE(aclrtSynchronizeStream(own), 0);
    CHECK_CODE(aclrtDestroyStream(own), 0);
    return NULL;
}

/* Threads use the same plans, each at its own addresses; one of them registers kernels, which drops all plans. */
static void test_threads(void)
{
    pthread_t threads[THREADS];
    float *mine[THREADS][2];
    setup();
    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < 2; k++)
            CHECK_CODE(aclrtMalloc((void **)&mine[i][k], COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), 0);
        fill(mine[i][0], (float)(1000 * i));
        CHECK(pthread_create(&threads[i], NULL, add_often, mine[i]) == 0);
    }
    for (int i = 0; i < RUNS; i++)
        CHECK_CODE(aclsimRegisterKernel("aclnnSub", NULL, i % 2 == 0 ? run_nothing : NULL, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(first_of(mine[i][1]) == (float)(2000 * i));
    }
}

int main(void)
{
    watch_dog(120);
    test_a_hit_computes_at_the_listed_addresses();
    test_keys_of_bytes();
    test_what_is_not_kept();
    test_what_does_not_hit();
    test_a_list_that_is_too_long_is_not_kept();
    test_registered_kernels();
    test_outputs_whose_size_the_kernel_finds();
    test_memory_is_checked_at_each_hit();
    test_nothing_is_kept_while_somebody_watches();
    test_threads();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
