/* Single operators from many threads, with objects that are destroyed meanwhile; workspace in every state of a stream;
 * attributes and handles with arbitrary bits. */
#include "engine.h"
#include <acl/acl_op.h>
#include <acl/acl_op_compiler.h>

#define ROUNDS 300
#define THREADS 4

static aclTensorDesc *desc;
static aclDataBuffer *buffers[3];
static float *memory;

static void make_operands(void)
{
    const int64_t dims[] = {4};
    const float numbers[] = {1, 2, 3, 4};
    desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
    CHECK_CODE(aclrtMalloc((void **)&memory, 3 * sizeof numbers, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(aclrtMemcpy(memory + 4 * i, sizeof numbers, numbers, sizeof numbers, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        buffers[i] = aclCreateDataBuffer(memory + 4 * i, sizeof numbers);
    }
}

static float result(void)
{
    float numbers[4];
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK_CODE(aclrtMemcpy(numbers, sizeof numbers, memory + 8, sizeof numbers, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return numbers[3];
}

/* ---- arbitrary handles ---- */

static void test_handles(void)
{
    aclopAttr *attr = aclopCreateAttr();
    CHECK_CODE(aclopSetAttrFloat(attr, "value", 2), 0);
    const void *strange[] = {(void *)1, (void *)-1, &attr, (void *)((uintptr_t)attr + 1), desc, buffers[0]};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        aclopAttr *wrong = (aclopAttr *)(uintptr_t)strange[i];
        aclopHandle *handle = (aclopHandle *)(uintptr_t)strange[i];
        CHECK_CODE(aclopSetAttrInt(wrong, "value", 1), ACL_ERROR_INVALID_PARAM);
        CHECK_CODE(aclopExecuteV2("Muls", 1, &desc, buffers, 1, &desc, buffers + 2, wrong, NULL),
                   ACL_ERROR_INVALID_PARAM);
        CHECK_CODE(aclopExecWithHandle(handle, 0, NULL, 0, NULL, NULL), ACL_ERROR_INVALID_PARAM);
        aclopDestroyAttr(wrong);
        aclopDestroyHandle(handle);
    }
    CHECK_CODE(aclopExecuteV2("Muls", 1, &desc, buffers, 1, &desc, buffers + 2, attr, NULL), 0);
    CHECK(result() == 8);
    aclopDestroyAttr(attr);
    CHECK(aclsimLiveCount("set of attributes") == 0);
}

/* ---- attributes are set, and operators run, while both may be destroyed ---- */

static aclopAttr *_Atomic shared_attr;
static aclopHandle *_Atomic shared_handle;

static void *run_shared(void *unused)
{
    (void)unused;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < ROUNDS; i++) {
        aclopAttr *attr = atomic_load(&shared_attr);
        aclError set = aclopSetAttrFloat(attr, "value", (float)i);
        aclError ran = aclopExecuteV2("Muls", 1, &desc, buffers, 1, &desc, buffers + 2, attr, NULL);
        CHECK(set == 0 || set == ACL_ERROR_INVALID_PARAM);
        CHECK(ran == 0 || ran == ACL_ERROR_INVALID_PARAM || ran == ACL_ERROR_OP_ATTR_NOT_MATCH);
        const aclDataBuffer *const inputs[] = {buffers[0], buffers[1]};
        ran = aclopExecWithHandle(atomic_load(&shared_handle), 2, inputs, 1, buffers + 2, NULL);
        CHECK(ran == 0 || ran == ACL_ERROR_INVALID_PARAM);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    const aclTensorDesc *const inputs[] = {desc, desc}, *const outputs[] = {desc};
    aclopHandle *handle;
    CHECK_CODE(aclopCreateHandle("Add", 2, inputs, 1, outputs, NULL, &handle), 0);
    atomic_store(&shared_attr, aclopCreateAttr());
    atomic_store(&shared_handle, handle);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run_shared, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        aclopAttr *fresh = aclopCreateAttr();
        CHECK_CODE(aclopCreateHandle("Add", 2, inputs, 1, outputs, NULL, &handle), 0);
        aclopDestroyAttr(atomic_exchange(&shared_attr, fresh));
        aclopDestroyHandle(atomic_exchange(&shared_handle, handle));
        (void)aclGetRecentErrMsg();
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    aclopDestroyAttr(atomic_load(&shared_attr));
    aclopDestroyHandle(atomic_load(&shared_handle));
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK(aclsimLiveCount("set of attributes") == 0 && aclsimLiveCount("operator handle") == 0);
    CHECK(aclsimLiveCount("tensor") == 0 && aclsimLiveCount("scalar") == 0);
}

/* ---- workspace ---- */

static aclnnStatus want_workspace(const aclsimCall *call, uint64_t *size)
{
    (void)call;
    *size = 4096;
    return 0;
}

static aclError use_workspace(const aclsimCall *call)
{
    CHECK(call->workspaceSize == 4096 && strcmp(call->arguments[2].text, "{}") == 0);
    memset(call->workspace, 1, 4096);
    memcpy(call->arguments[1].tensors->data, call->arguments[0].tensors->data, 4 * sizeof(float));
    return 0;
}

static size_t free_memory(void)
{
    size_t available, total;
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &available, &total), 0);
    return available;
}

static void test_workspace(void)
{
    aclrtStream stream;
    size_t before = free_memory();
    aclmdlRI instance;
    CHECK_CODE(aclsimRegisterKernel("CopyCustom", want_workspace, use_workspace, NULL), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclopExecuteV2("CopyCustom", 1, &desc, buffers, 1, &desc, buffers + 2, NULL, stream), 0);
    CHECK(result() == 4 && free_memory() == before);
    /* Discarded before it ran. */
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(aclopExecuteV2("CopyCustom", 1, &desc, buffers, 1, &desc, buffers + 2, NULL, stream), 0);
    CHECK(free_memory() < before);
    CHECK_CODE(aclrtDestroyStreamForce(stream), 0);
    CHECK(free_memory() == before);
    /* Captured. */
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    CHECK_CODE(aclopExecuteV2("CopyCustom", 1, &desc, buffers, 1, &desc, buffers + 2, NULL, stream),
               ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_TEXT("needs 4096 bytes of workspace");
    CHECK_CODE(aclopExecuteV2("Neg", 1, &desc, buffers, 1, &desc, buffers + 2, NULL, stream), 0);
    CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
    CHECK(result() == -4);
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclsimRegisterKernel("CopyCustom", NULL, NULL, NULL), 0);
}

int main(void)
{
    watch_dog(120);
    open_device("parallel");
    make_operands();
    test_handles();
    test_threads();
    test_workspace();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
