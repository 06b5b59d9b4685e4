/* Saved instances from C: a saved block is opened and executed by several threads, truncated at every byte, and changed
 * at every byte. Executing a changed block must not cause undefined behaviour, which sanitizers would report. */
#include "model/format/format.h"
#include "engine.h"
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_add.h>

enum { COUNT = 64, THREADS = 4, RUNS = 200 };

static float *make_floats(float value)
{
    void *memory;
    float host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = value;
    CHECK_CODE(aclrtMalloc(&memory, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMemcpy(memory, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    return memory;
}

static aclTensor *make_tensor(void *data)
{
    int64_t dim = COUNT, stride = 1;
    aclTensor *tensor = aclCreateTensor(&dim, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &dim, 1, data);
    CHECK(tensor != NULL);
    return tensor;
}

/* Captures sum = x + 2 * weight, where the block keeps the weight, and y = sum. */
static aclmdlRI capture(aclrtStream stream, float *x, float *y)
{
    float two = 2, *memory[] = {x, make_floats(20), make_floats(-1)};
    aclTensor *tensors[] = {make_tensor(memory[0]), make_tensor(memory[1]), make_tensor(memory[2])};
    aclScalar *alpha = aclCreateScalar(&two, ACL_FLOAT);
    uint64_t size;
    aclOpExecutor *executor;
    aclmdlRI instance;
    CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    CHECK_CODE(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &size, &executor), 0);
    CHECK_CODE(aclnnAdd(NULL, size, executor, stream), 0);
    CHECK_CODE(aclrtMemcpyAsync(y, COUNT * 4, memory[2], COUNT * 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
    CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(aclDestroyTensor(tensors[i]), 0);
    CHECK_CODE(aclDestroyScalar(alpha), 0);
    return instance;
}

static unsigned char *save(aclmdlRI instance, float *x, float *y, size_t *size)
{
    aclsimRange input = {x, COUNT * 4, 0}, output = {y, COUNT * 4, 1};
    CHECK_CODE(aclsimSaveInstance(instance, &input, 1, &output, 1, NULL, size), 0);
    unsigned char *block = malloc(*size);
    CHECK(block != NULL);
    CHECK_CODE(aclsimSaveInstance(instance, &input, 1, &output, 1, block, size), 0);
    return block;
}

/* Each thread has its own numbers, and never gets those of another thread back. */
static void *run_often(void *argument)
{
    const struct sim_model_executor *executor = argument;
    char reason[SIM_REASON_BYTES];
    float x[COUNT], y[COUNT];
    uint64_t capacity = sizeof y;
    aclsimTensor input = {.data = x, .dims = {COUNT}, .strides = {1}, .rank = 1, .type = ACL_FLOAT};
    aclsimTensor output = {.data = y, .dims = {COUNT}, .strides = {1}, .rank = 1, .type = ACL_FLOAT};
    aclsimModelRun run = {.inputs = &input, .inputCount = 1, .outputs = &output, .outputCount = 1,
                          .capacities = &capacity};
    for (int n = 0; n < RUNS; n++) {
        float value = (float)((uintptr_t)x % 4096 + (unsigned)n);
        for (int i = 0; i < COUNT; i++)
            x[i] = value + (float)i;
        CHECK_CODE(executor->me_own(executor->me_state, NULL, &run, reason), 0);
        for (int i = 0; i < COUNT; i++)
            CHECK(y[i] == value + (float)i + 40);
    }
    return NULL;
}

static void test_runs_by_several_threads(const unsigned char *block, size_t size)
{
    struct sim_model_executor executor = {0};
    pthread_t threads[THREADS];
    CHECK_CODE(sim_saved_open((struct sim_bytes){block, size}, &executor), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run_often, &executor) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    executor.me_close(executor.me_state);
}

/* Each block is allocated with its exact size, so that sanitizers report a read past its end. */
static void test_cut_blocks_are_refused(const unsigned char *block, size_t size)
{
    struct sim_model_executor executor = {0};
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut + 1);
        CHECK(part != NULL);
        memcpy(part, block, cut);
        CHECK_CODE(sim_saved_open((struct sim_bytes){part, cut}, &executor), ACL_ERROR_GE_PARAM_INVALID);
        CHECK(executor.me_own == NULL);
        free(part);
    }
}

static void run_damaged(const struct sim_model_executor *executor)
{
    char reason[SIM_REASON_BYTES];
    float x[COUNT] = {1}, y[COUNT];
    uint64_t capacity = sizeof y;
    aclsimTensor input = {.data = x, .dims = {COUNT}, .strides = {1}, .rank = 1, .type = ACL_FLOAT};
    aclsimTensor output = {.data = y, .dims = {COUNT}, .strides = {1}, .rank = 1, .type = ACL_FLOAT};
    aclsimModelRun run = {.inputs = &input, .inputCount = 1, .outputs = &output, .outputCount = 1,
                          .capacities = &capacity};
    aclError code = executor->me_own(executor->me_state, NULL, &run, reason);
    CHECK(code == ACL_SUCCESS || code > 0);
}

/* A changed block is either refused, or opened as another valid block: both are right. */
static void test_changed_blocks_stay_defined(const unsigned char *block, size_t size)
{
    static const unsigned char changes[] = {0x01, 0x02, 0x80, 0xff};
    unsigned char *changed = malloc(size);
    size_t refused = 0;
    CHECK(changed != NULL);
    for (size_t place = 0; place < size; place++)
        for (size_t i = 0; i < sizeof changes; i++) {
            struct sim_model_executor executor = {0};
            memcpy(changed, block, size);
            changed[place] ^= changes[i];
            if (sim_saved_open((struct sim_bytes){changed, size}, &executor) != ACL_SUCCESS) {
                refused++;
                continue;
            }
            run_damaged(&executor);
            executor.me_close(executor.me_state);
        }
    CHECK(refused != 0 && refused != size * sizeof changes);
    free(changed);
}

int main(void)
{
    size_t size;
    watch_dog(60);
    open_device("parallel");
    aclrtStream stream = make_stream();
    float *x = make_floats(1), *y = make_floats(0);
    aclmdlRI instance = capture(stream, x, y);
    unsigned char *block = save(instance, x, y, &size);
    test_runs_by_several_threads(block, size);
    test_cut_blocks_are_refused(block, size);
    test_changed_blocks_stay_defined(block, size);
    CHECK_CODE(aclsimReset(), 0); /* the block does not depend on the objects that it was saved from */
    open_device("eager");
    test_runs_by_several_threads(block, size);
    free(block);
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
