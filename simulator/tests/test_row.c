/* Operators: what the first phase refuses and packs, what the second phase runs, executors that are used once or
 * several times. The kernel belongs to the test, and adds tensors of equal shapes. */
#include "operator/call.h"
#include "engine.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_cat.h>
#include <aclnnop/aclnn_digamma.h>
#include <aclnnop/aclnn_flip.h>
#include <aclnnop/aclnn_foreach_abs.h>
#include <aclnnop/aclnn_gelu.h>

enum { ROWS = 3, COLUMNS = 4, COUNT = ROWS * COLUMNS };

static aclrtStream stream;
static float *device[3]; /* blocks of COUNT floats */
static float host[COUNT];
static aclScalar *alpha;

static float at(const aclsimTensor *tensor, int64_t i, int64_t k)
{
    return ((const float *)tensor->data)[i * tensor->strides[0] + k * tensor->strides[1]];
}

static aclnnStatus plan_add(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments;
    CHECK(call->argumentCount == 4 && strcmp(call->name, "aclnnAdd") == 0 && call->userData == host);
    CHECK(strcmp(arguments[1].name, "other") == 0 && arguments[1].kind == ACLSIM_TENSOR && arguments[1].count == 1);
    CHECK(arguments[0].direction == ACLSIM_IN && arguments[3].direction == ACLSIM_OUT);
    CHECK(arguments[0].tensors->data == NULL); /* no data in the first phase */
    *workspace_size = 64;
    return arguments[0].tensors->type == ACL_FLOAT ? 0 : ACLNN_ERR_PARAM_INVALID;
}

static aclError run_add(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *other = call->arguments[1].tensors;
    const aclsimTensor *out = call->arguments[3].tensors;
    float scale;
    memcpy(&scale, call->arguments[2].scalars->value, sizeof scale);
    memset(call->workspace, 1, call->workspaceSize);
    for (int64_t i = 0; i < out->dims[0]; i++)
        for (int64_t k = 0; k < out->dims[1]; k++)
            ((float *)out->data)[i * out->strides[0] + k * out->strides[1]] = at(self, i, k) + scale * at(other, i, k);
    return 0;
}

static aclTensor *tensor(void *data, int64_t offset, int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    int64_t dims[] = {rows, columns}, strides[] = {row, column}, storage[] = {COUNT};
    aclTensor *made = aclCreateTensor(dims, 2, ACL_FLOAT, strides, offset, ACL_FORMAT_ND, storage, 1, data);
    CHECK(made != NULL);
    return made;
}

static aclTensor *full(void *data)
{
    return tensor(data, 0, ROWS, COLUMNS, COLUMNS, 1);
}

static void fill(float *block, float first)
{
    for (int i = 0; i < COUNT; i++)
        host[i] = first + (float)i;
    CHECK_CODE(aclrtMemcpy(block, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

static const float *read_back(const float *block)
{
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(host, sizeof host, block, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return host;
}

static void *workspace;

/* Both phases of aclnnAdd. */
static aclnnStatus add(aclTensor *self, aclTensor *other, aclTensor *out)
{
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    aclnnStatus code = aclnnAddGetWorkspaceSize(self, other, alpha, out, &size, &executor);
    return code != 0 ? code : aclnnAdd(workspace, size, executor, stream);
}

static void test_run(void)
{
    aclTensor *self = full(device[0]), *other = full(device[1]), *out = full(device[2]);
    fill(device[0], 1);
    fill(device[1], 100);
    CHECK_CODE(add(self, other, out), 0);
    read_back(device[2]);
    for (int i = 0; i < COUNT; i++)
        CHECK(host[i] == 1 + (float)i + 2 * (100 + (float)i));
    /* A transposed view, a reversed view, and a single element that is broadcast. */
    aclTensor *turned = tensor(device[2], 0, COLUMNS, ROWS, 1, COLUMNS);
    aclTensor *back = tensor(device[0], COUNT - 1, COLUMNS, ROWS, -ROWS, -1);
    aclTensor *other_turned = tensor(device[1], 0, COLUMNS, ROWS, 0, 0);
    CHECK_CODE(add(back, other_turned, turned), 0);
    read_back(device[2]);
    for (int i = 0; i < COLUMNS; i++)
        for (int k = 0; k < ROWS; k++)
            CHECK(host[k * COLUMNS + i] == (float)(COUNT - i * ROWS - k) + 200);
    aclTensor *all[] = {self, other, out, turned, back, other_turned};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_CODE(aclDestroyTensor(all[i]), 0);
}

/* An operator that cannot work in place gives the right result if its output is its input, or overlaps it. */
static void test_overlap(void)
{
    const int64_t axes[] = {1};
    aclIntArray *last = aclCreateIntArray(axes, 1);
    for (int64_t offset = 0; offset < 2; offset++) {
        int64_t columns = COUNT - offset;
        aclTensor *self = tensor(device[0], 0, 1, columns, columns, 1);
        aclTensor *out = tensor(device[0], offset, 1, columns, columns, 1);
        uint64_t size;
        aclOpExecutor *executor;
        fill(device[0], 0);
        CHECK_CODE(aclnnFlipGetWorkspaceSize(self, last, out, &size, &executor), 0);
        CHECK_CODE(aclnnFlip(NULL, size, executor, stream), 0);
        read_back(device[0]);
        for (int64_t i = 0; i < columns; i++)
            CHECK(host[i + offset] == (float)(columns - 1 - i));
        CHECK_CODE(aclDestroyTensor(self), 0);
        CHECK_CODE(aclDestroyTensor(out), 0);
    }
    CHECK_CODE(aclDestroyIntArray(last), 0);
}

/* The ranges of a task are the bytes of its views: the queue refuses memory that was freed before the task ran. */
static void test_ranges(void)
{
    void *block;
    CHECK_CODE(aclrtMalloc(&block, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    aclTensor *self = full(device[0]), *other = full(block), *out = full(device[2]), *outside, *low;
    outside = tensor(block, 0, ROWS, 2, COUNT, 1);
    low = tensor(block, 1, 2, 2, -1, -1);
    CHECK_CODE(add(self, outside, out), ACLNN_ERR_RUNTIME_ERROR);
    CHECK_TEXT("other");
    CHECK_CODE(add(self, low, out), ACLNN_ERR_RUNTIME_ERROR); /* the view begins one element before the block */
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(add(self, other, out), 0);
    CHECK_CODE(aclrtFree(block), 0);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    CHECK_TEXT("aclnnAdd");
    aclTensor *all[] = {self, other, out, outside, low};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_CODE(aclDestroyTensor(all[i]), 0);
}

static void test_first_phase(void)
{
    uint64_t size;
    aclOpExecutor *executor;
    aclTensor *good = full(device[0]);
    int64_t many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, huge[] = {INT64_MAX, INT64_MAX}, negative[] = {-1};
    aclTensor *deep = aclCreateTensor(many, 9, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, many, 9, device[0]);
    aclTensor *wide = aclCreateTensor(huge, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, huge, 2, device[0]);
    aclTensor *less = aclCreateTensor(negative, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, negative, 1, device[0]);
    aclTensor *far = aclCreateTensor(many, 1, ACL_FLOAT, NULL, INT64_MAX, ACL_FORMAT_ND, many, 1, device[0]);
    aclTensor *typeless = aclCreateTensor(many, 1, ACL_STRING, NULL, 0, ACL_FORMAT_ND, many, 1, device[0]);
    CHECK_CODE(aclnnAddGetWorkspaceSize(NULL, good, alpha, good, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    CHECK_TEXT("self is NULL");
    CHECK_CODE(aclnnAddGetWorkspaceSize(good, good, NULL, good, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    CHECK_CODE(aclnnAddGetWorkspaceSize(good, good, alpha, good, NULL, &executor), ACLNN_ERR_PARAM_NULLPTR);
    CHECK_CODE(aclnnAddGetWorkspaceSize(good, good, alpha, good, &size, NULL), ACLNN_ERR_PARAM_NULLPTR);
    aclTensor *bad[] = {deep, wide, less, far, typeless, (aclTensor *)alpha, (aclTensor *)&size};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_CODE(aclnnAddGetWorkspaceSize(good, bad[i], alpha, good, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(aclnnAddGetWorkspaceSize(good, good, (aclScalar *)good, good, &size, &executor),
               ACLNN_ERR_PARAM_INVALID);
    CHECK_TEXT("alpha is a live tensor");
    CHECK_CODE(aclnnDigammaGetWorkspaceSize(good, good, &size, &executor), ACLNN_ERR_INNER_FIND_KERNEL_ERROR);
    CHECK_TEXT("acl.sim.kernel(\"aclnnDigamma\")");
    for (size_t i = 0; i < 5; i++)
        CHECK_CODE(aclDestroyTensor(bad[i]), 0);
    CHECK_CODE(aclDestroyTensor(good), 0);
    CHECK_CODE(aclDestroyTensor(good), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(aclDestroyTensor(NULL), 0);
}

static aclOpExecutor *plan(aclTensor *self, aclTensor *other, aclTensor *out)
{
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    CHECK_CODE(aclnnAddGetWorkspaceSize(self, other, alpha, out, &size, &executor), 0);
    CHECK(size == 64 && executor != NULL);
    return executor;
}

static void test_second_phase(void)
{
    aclTensor *self = full(device[0]), *other = full(device[1]), *out = full(device[2]), *gone = full(device[0]);
    aclOpExecutor *executor = plan(self, other, out);
    CHECK_CODE(aclnnAdd(workspace, 64, NULL, stream), ACLNN_ERR_PARAM_NULLPTR);
    CHECK_CODE(aclnnAdds(workspace, 64, executor, stream), ACLNN_ERR_INNER_NULLPTR); /* also destroys the executor */
    CHECK_TEXT("aclnnAddGetWorkspaceSize");
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), ACLNN_ERR_INNER_NULLPTR);
    CHECK_TEXT("a destroyed executor");
    CHECK_CODE(aclnnAdd(NULL, 64, plan(self, other, out), stream), ACLNN_ERR_PARAM_NULLPTR);
    CHECK_CODE(aclnnAdd(workspace, 63, plan(self, other, out), stream), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(aclnnAdd(host, 64, plan(self, other, out), stream), ACLNN_ERR_RUNTIME_ERROR);
    CHECK_CODE(aclnnAdd(workspace, 64, plan(self, other, out), (aclrtStream)1), ACLNN_ERR_RUNTIME_ERROR);
    executor = plan(gone, other, out);
    CHECK_CODE(aclDestroyTensor(gone), 0);
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), ACLNN_ERR_INNER_NULLPTR);
    CHECK_TEXT("self was destroyed");
    CHECK_CODE(aclDestroyAclOpExecutor(plan(self, other, out)), 0); /* never run */
    CHECK_CODE(aclnnAdd(workspace, 64, plan(self, other, out), NULL), 0); /* the default stream */
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    aclTensor *empty = tensor(NULL, 0, 0, COLUMNS, COLUMNS, 1);
    CHECK_CODE(add(empty, empty, empty), 0);
    aclTensor *all[] = {self, other, out, empty};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_CODE(aclDestroyTensor(all[i]), 0);
}

static void test_repeatable(void)
{
    aclTensor *self = full(device[0]), *other = full(device[1]), *out = full(device[2]);
    aclOpExecutor *executor = plan(self, other, out);
    CHECK_CODE(aclSetAclOpExecutorRepeatable(NULL), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(aclSetAclOpExecutorRepeatable(executor), 0);
    fill(device[0], 0);
    fill(device[1], 0);
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), 0);
    CHECK(read_back(device[2])[5] == 15);
    CHECK_CODE(aclSetInputTensorAddr(executor, 0, self, device[2]), 0);
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), 0);
    CHECK(read_back(device[2])[5] == 25);
    CHECK_CODE(aclSetOutputTensorAddr(executor, 0, out, device[0]), 0);
    CHECK_CODE(aclSetTensorAddr(executor, 1, other, device[2]), 0);
    aclTensor *all[] = {self, other, out};
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), 0);
    for (size_t i = 0; i < 3; i++)
        CHECK_CODE(aclDestroyTensor(all[i]), 0);
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), 0); /* the addresses are kept */
    CHECK(read_back(device[0])[5] == 75);
    self = full(device[0]);
    CHECK_CODE(aclSetInputTensorAddr(executor, 2, self, device[0]), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(aclSetOutputTensorAddr(executor, 1, self, device[0]), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(aclSetTensorAddr(executor, 0, NULL, device[0]), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(aclSetTensorAddr(NULL, 0, self, device[0]), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(aclDestroyAclOpExecutor(executor), 0);
    CHECK_CODE(aclDestroyAclOpExecutor(executor), ACLNN_ERR_INNER);
    CHECK_CODE(aclDestroyAclOpExecutor(NULL), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(aclDestroyTensor(self), 0);
}

/* ---- lists ---- */

static _Atomic uint64_t listed;

static aclError run_cat(const aclsimCall *call)
{
    const aclsimArgument *tensors = &call->arguments[0], *dim = &call->arguments[1];
    CHECK(tensors->kind == ACLSIM_TENSOR_LIST && dim->kind == ACLSIM_INTEGER && dim->integer == -1);
    for (uint64_t i = 0; i < tensors->count; i++)
        CHECK(tensors->tensors[i].rank == 2 && tensors->tensors[i].data != NULL);
    atomic_store(&listed, tensors->count);
    return 0;
}

static void test_lists(void)
{
    uint64_t size = 1;
    aclOpExecutor *executor;
    const aclTensor *members[] = {full(device[0]), full(device[1])};
    aclTensorList *list = aclCreateTensorList(members, 2);
    aclTensor *out = full(device[2]);
    CHECK_CODE(aclsimRegisterKernel("aclnnCat", NULL, run_cat, NULL), 0);
    CHECK_CODE(aclnnCatGetWorkspaceSize(list, -1, out, &size, &executor), 0);
    CHECK(size == 0);
    CHECK_CODE(aclSetAclOpExecutorRepeatable(executor), 0);
    CHECK_CODE(aclSetDynamicInputTensorAddr(executor, 0, 1, list, device[2]), 0);
    CHECK_CODE(aclSetDynamicInputTensorAddr(executor, 0, 2, list, device[2]), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(aclSetDynamicTensorAddr(executor, 1, 0, list, device[2]), ACLNN_ERR_PARAM_INVALID); /* not a list */
    CHECK_CODE(aclSetDynamicTensorAddr(executor, 0, 0, NULL, device[2]), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(aclnnCat(NULL, 0, executor, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(listed == 2);
    CHECK_CODE(aclDestroyAclOpExecutor(executor), 0);
    CHECK_CODE(aclDestroyTensorList(list), 0);
    CHECK_CODE(aclDestroyTensor(members[0]), ACLNN_ERR_PARAM_INVALID); /* destroyed with the list */
    aclTensorList *empty = aclCreateTensorList(NULL, 0);
    CHECK_CODE(aclnnCatGetWorkspaceSize(empty, -1, out, &size, &executor), 0);
    CHECK_CODE(aclnnCat(NULL, 0, executor, stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(listed == 0);
    CHECK_CODE(aclDestroyTensorList(empty), 0);
    CHECK_CODE(aclDestroyTensor(out), 0);
}

/* Writes through the addresses that the kernel got, so that the test sees them: the first element of each list's only
 * member. */
static aclError run_abs(const aclsimCall *call)
{
    *(float *)call->arguments[1].tensors->data = -*(const float *)call->arguments[0].tensors->data;
    return 0;
}

/* Every function that changes addresses of a list, under both spellings. */
static void test_list_addresses(void)
{
    typedef aclnnStatus (*set_member)(aclOpExecutor *, size_t, const size_t, aclTensorList *, void *);
    const struct {
        set_member call;
        size_t index;
        bool is_output;
    } setters[] = {
        {aclSetDynamicInputTensorAddr, 0, false}, {AclSetDynamicInputTensorAddr, 0, false},
        {aclSetDynamicOutputTensorAddr, 0, true}, {AclSetDynamicOutputTensorAddr, 0, true},
        {aclSetDynamicTensorAddr, 0, false},      {AclSetDynamicTensorAddr, 1, true},
    };
    CHECK_CODE(aclsimRegisterKernel("aclnnForeachAbs", NULL, run_abs, NULL), 0);
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        uint64_t size;
        aclOpExecutor *executor;
        const aclTensor *in = full(device[0]), *out = full(device[0]);
        aclTensorList *inputs = aclCreateTensorList(&in, 1), *outputs = aclCreateTensorList(&out, 1);
        bool is_output = setters[i].is_output;
        fill(device[0], 1);
        fill(device[1], 50);
        CHECK_CODE(aclnnForeachAbsGetWorkspaceSize(inputs, outputs, &size, &executor), 0);
        CHECK_CODE(setters[i].call(executor, setters[i].index, 0, is_output ? outputs : inputs, device[1]), 0);
        CHECK_CODE(setters[i].call(executor, 2, 0, inputs, device[0]), ACLNN_ERR_PARAM_INVALID);
        if (is_output) /* the failed call above has changed the member's own address */
            CHECK_CODE(aclSetRawTensorAddr((aclTensor *)(uintptr_t)in, device[0]), 0);
        else
            CHECK_CODE(aclSetRawTensorAddr((aclTensor *)(uintptr_t)in, device[1]), 0);
        CHECK_CODE(aclnnForeachAbs(NULL, 0, executor, stream), 0);
        CHECK(read_back(is_output ? device[1] : device[0])[0] == (is_output ? -1 : -50));
        CHECK_CODE(aclDestroyTensorList(inputs), 0);
        CHECK_CODE(aclDestroyTensorList(outputs), 0);
    }
    CHECK_CODE(aclsimRegisterKernel("aclnnForeachAbs", NULL, NULL, NULL), 0);
}

/* The older spellings of the functions for single tensors. */
static void test_addresses(void)
{
    aclTensor *self = full(device[0]), *other = full(device[1]), *out = full(device[2]);
    aclOpExecutor *executor = plan(self, other, out);
    fill(device[0], 0);
    fill(device[1], 0);
    fill(device[2], 100);
    CHECK_CODE(AclSetInputTensorAddr(executor, 0, self, device[2]), 0);
    CHECK_CODE(AclSetOutputTensorAddr(executor, 0, out, device[1]), 0);
    CHECK_CODE(AclSetTensorAddr(executor, 1, other, device[0]), 0);
    CHECK_CODE(AclSetInputTensorAddr(executor, 2, self, device[2]), ACLNN_ERR_PARAM_INVALID);
    CHECK_CODE(AclSetOutputTensorAddr(NULL, 0, out, device[1]), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(AclSetTensorAddr(executor, 0, NULL, device[0]), ACLNN_ERR_INNER_NULLPTR);
    CHECK_CODE(aclnnAdd(workspace, 64, executor, stream), 0);
    CHECK(read_back(device[1])[5] == 105 + 2 * 5);
    aclTensor *all[] = {self, other, out};
    for (size_t i = 0; i < 3; i++)
        CHECK_CODE(aclDestroyTensor(all[i]), 0);
}

static void test_table(void)
{
    for (size_t i = 0; i < sim_row_table->rt_count; i++) {
        CHECK(i == 0 ||
              strcmp(sim_row_table->rt_rows[i - 1]->ro_op.op_name, sim_row_table->rt_rows[i]->ro_op.op_name) < 0);
        CHECK(sim_row_find(sim_row_table->rt_rows[i]->ro_op.op_name) == sim_row_table->rt_rows[i]);
    }
    CHECK(aclsimOperatorCount(0) == sim_row_table->rt_count && sim_row_find("aclnnNothing") == NULL);
    CHECK_CODE(aclsimRegisterKernel("aclnnNothing", NULL, run_cat, NULL), ACL_ERROR_INVALID_PARAM);
    CHECK_CODE(aclsimRegisterKernel(NULL, NULL, run_cat, NULL), ACL_ERROR_INVALID_PARAM);
    int32_t implemented = 0;
    uint64_t in = 0, out = 0;
    CHECK_CODE(aclsimOperatorKernel("aclnnRelu", &implemented, &in, &out), 0);
    CHECK(implemented == 1 && (in >> ACL_INT64 & 1) == 1 && (in >> ACL_DOUBLE & 1) == 0 && out == in);
    CHECK_CODE(aclsimOperatorKernel("aclnnCat", &implemented, &in, &out), 0);
    CHECK((in >> ACL_UINT16 & 1) == 1 && (in >> ACL_UINT1 & 1) == 0 && out == in);
    CHECK_CODE(aclsimOperatorKernel("aclnnAdvanceStep", &implemented, &in, &out), 0);
    CHECK(implemented == 1 && in == 0 && out == 0); /* no call was found that it accepts */
    CHECK_CODE(aclsimOperatorKernel("aclnnForeachAbs", &implemented, &in, &out), 0);
    CHECK(in != 0 && out == in);
    CHECK_CODE(aclsimOperatorKernel("aclnnNothing", &implemented, &in, &out), ACL_ERROR_INVALID_PARAM);
    size_t before = aclsimOperatorCount(1);
    CHECK_CODE(aclsimRegisterKernel("aclnnCat", NULL, NULL, NULL), 0);
    CHECK(aclsimOperatorCount(1) <= before);
}

/* ---- threads ---- */

static _Atomic uint32_t calls;

static aclError count_call(const aclsimCall *call)
{
    CHECK(call->arguments[0].tensors->dims[0] == ROWS && call->userData == &calls);
    atomic_fetch_add(&calls, 1);
    return 0;
}

/* The threads share tensors, but each has its own executors. */
static void *call_often(void *tensors)
{
    aclTensor **shared = tensors;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int i = 0; i < 500; i++) {
        uint64_t size;
        aclOpExecutor *executor;
        CHECK_CODE(aclnnGeluGetWorkspaceSize(shared[0], shared[1], &size, &executor), 0);
        CHECK_CODE(aclnnGelu(NULL, size, executor, stream), 0);
        CHECK_CODE(aclSetRawTensorAddr(shared[0], device[0]), 0);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    aclTensor *shared[] = {full(device[0]), full(device[1])};
    atomic_store(&calls, 0);
    CHECK_CODE(aclsimRegisterKernel("aclnnGelu", NULL, count_call, &calls), 0);
    for (int i = 0; i < 4; i++)
        threads[i] = start(call_often, shared);
    for (int i = 0; i < 500; i++)
        CHECK_CODE(aclsimRegisterKernel("aclnnGelu", NULL, count_call, &calls), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK(calls == 2000);
    CHECK_CODE(aclsimRegisterKernel("aclnnGelu", NULL, NULL, NULL), 0);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclDestroyTensor(shared[i]), 0);
}

static void test_schedule(const char *schedule)
{
    float value = 2;
    open_device(schedule);
    stream = make_stream();
    alpha = aclCreateScalar(&value, ACL_FLOAT);
    CHECK_CODE(aclrtMalloc(&workspace, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclrtMalloc((void **)&device[i], sizeof host, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclsimRegisterKernel("aclnnAdd", plan_add, run_add, host), 0);
    test_run();
    test_overlap();
    test_first_phase();
    test_second_phase();
    test_repeatable();
    test_addresses();
    test_lists();
    test_list_addresses();
    test_table();
    test_threads();
    test_ranges();
    CHECK_CODE(aclDestroyScalar(alpha), 0);
}

int main(void)
{
    uint64_t size;
    aclOpExecutor *executor;
    watch_dog(60);
    aclTensor *anything = tensor(NULL, 0, 1, 1, 1, 1);
    CHECK_CODE(aclnnGeluGetWorkspaceSize(anything, anything, &size, &executor), ACLNN_ERR_RUNTIME_ERROR);
    CHECK_TEXT("no current context");
    test_schedule("parallel");
    test_schedule("eager");
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
