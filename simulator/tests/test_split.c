/* Kernels on several threads: every piece runs once, on whichever thread; no call waits for a busy worker; finalisation
 * and fork work beside a call; operators give the same bits with any number of workers. */
#include "engine/split.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_cast.h>
#include <aclnnop/aclnn_convolution.h>
#include <aclnnop/aclnn_gelu_v2.h>
#include <aclnnop/aclnn_layer_norm.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_reduce_sum.h>
#include <aclnnop/aclnn_softmax.h>
#include <sys/wait.h>

static void open_with(const char *workers)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("workers", workers), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
}

/* ---- pieces ---- */

#define PIECES 64

/* Plain memory, so that TSan sees a piece that two threads run, or a result that is read too early. */
struct count {
    uint32_t runs[PIECES + 1], seats;
    uint64_t first_ns; /* how long the first piece takes */
    _Atomic uint32_t threads;
    uint32_t wanted; /* the second piece waits for so many threads */
    bool seen[SIM_WORKERS_MAX + 1];
};

static void count_piece(void *argument, size_t first, size_t end, uint32_t seat)
{
    struct count *count = argument;
    const uint64_t until = sim_clock_now() + count->first_ns;
    while (first == 0 && sim_clock_now() < until)
        ;
    CHECK(seat < count->seats);
    if (!count->seen[seat]) {
        count->seen[seat] = true;
        atomic_fetch_add(&count->threads, 1);
    }
    while (first != 0 && atomic_load(&count->threads) < count->wanted)
        sched_yield();
    for (size_t i = first; i < end; i++)
        count->runs[i]++;
}

static void run_count(struct count *count, size_t size, size_t grain)
{
    count->seats = sim_split_seats(size, grain);
    sim_split_run(size, grain, count_piece, count);
    for (size_t i = 0; i <= PIECES; i++)
        CHECK(count->runs[i] == (i < size));
}

static void test_pieces(void)
{
    static const char *const workers[] = {"1", "2", "5"};
    for (size_t i = 0; i < 3; i++) {
        open_with(workers[i]);
        CHECK_CODE(aclrtSynchronizeDevice(), 0);
        for (size_t size = 0; size <= PIECES; size++)
            for (size_t grain = 1; grain < 5; grain++) {
                struct count count = {.first_ns = size % 8 == 3 ? 200000 : 0};
                run_count(&count, size, grain);
            }
        CHECK(sim_split_seats(PIECES, PIECES) == 1 && sim_split_seats(PIECES, 1) == (uint32_t)atoi(workers[i]) + 1);
    }
}

/* Workers that sleep take part, and no more of them than the setting says. */
static void test_workers_help(void)
{
    static const char *const workers[] = {"2", "5"};
    for (size_t i = 0; i < 2; i++)
        for (unsigned turn = 0; turn < 20 * stress_factor(); turn++) {
            if (turn % 10 == 0)
                open_with(workers[i]);
            struct count count = {.first_ns = 2000000, .wanted = (uint32_t)atoi(workers[i])};
            run_count(&count, PIECES, 1);
            CHECK(atomic_load(&count.threads) >= count.wanted);
        }
}

/* The calling thread runs all pieces while the workers run tasks. */
static void test_busy_workers(void)
{
    open_device("parallel");
    occupy_workers();
    struct count count = {.first_ns = 2000000};
    run_count(&count, PIECES, 1);
    CHECK(atomic_load(&count.threads) == 1);
    free_workers();
}

/* ---- calls on workers, several at a time, and inside pieces ---- */

static void count_inside(void *argument, size_t first, size_t end, uint32_t seat)
{
    struct count inner = {.first_ns = first % 16 == 0 ? 200000 : 0};
    run_count(&inner, PIECES, 3);
    count_piece(argument, first, end, seat);
}

static aclError run_split(void *unused)
{
    struct count count = {.first_ns = 200000, .seats = sim_split_seats(PIECES, 1)};
    (void)unused;
    sim_split_run(PIECES, 1, count_inside, &count);
    for (size_t i = 0; i < PIECES; i++)
        CHECK(count.runs[i] == 1);
    return 0;
}

static void test_many_calls(void)
{
    aclrtStream streams[4];
    open_with("3");
    for (size_t i = 0; i < 4; i++)
        streams[i] = make_stream();
    for (unsigned turn = 0; turn < 10 * stress_factor(); turn++) {
        for (size_t i = 0; i < 4; i++)
            launch(streams[i], run_split, NULL, i % 2 == 0 ? ACLSIM_TASK_WORKER : 0);
        CHECK_CODE(aclrtSynchronizeStream(streams[3]), 0);
        CHECK_CODE(run_split(NULL), 0);
    }
    for (size_t i = 0; i < 4; i++)
        CHECK_CODE(aclrtDestroyStream(streams[i]), 0);
}

/* ---- a stream, finalisation and fork beside a call ---- */

static void *split_often(void *stops)
{
    while (!atomic_load((_Atomic bool *)stops)) {
        struct count count = {.first_ns = 200000};
        run_count(&count, PIECES, 1);
    }
    return NULL;
}

static void test_beside(void)
{
    static _Atomic bool stops;
    open_with("2");
    pthread_t thread = start(split_often, &stops);
    for (unsigned turn = 0; turn < 20 * stress_factor(); turn++) {
        struct blocker blocker = BLOCKER;
        aclrtStream stream = make_stream();
        launch(stream, block, &blocker, ACLSIM_TASK_WORKER);
        latch_wait(&blocker.begun, 1); /* a worker leaves the call for the stream */
        pid_t child = fork();
        if (child == 0) {
            struct count count = {.first_ns = 200000};
            CHECK(!sim_split_is_offered());
            run_count(&count, PIECES, 1);
            _exit(0);
        }
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        latch_open(&blocker.let);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtDestroyStream(stream), 0);
        sim_worker_rest(); /* as aclFinalize does; the next push starts the workers again */
    }
    atomic_store(&stops, true);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* ---- operators ---- */

enum { ROWS = 300, COLUMNS = 1000, COUNT = ROWS * COLUMNS, RESULTS = 7 };

static aclTensor *tensor(void *data, int64_t step, aclDataType type)
{
    const int64_t dims[] = {ROWS, COLUMNS}, strides[] = {step, 1};
    aclTensor *made = aclCreateTensor(dims, 2, type, strides, 0, ACL_FORMAT_ND, dims, 2, data);
    CHECK(made != NULL);
    return made;
}

static void *device_memory(size_t size)
{
    void *memory;
    CHECK_CODE(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    return memory;
}

#define RUN(op, ...)                                                                                                   \
    do {                                                                                                               \
        uint64_t size_;                                                                                                \
        aclOpExecutor *executor_;                                                                                      \
        CHECK_CODE(aclnn##op##GetWorkspaceSize(__VA_ARGS__, &size_, &executor_), 0);                                   \
        CHECK_CODE(aclnn##op(NULL, 0, executor_, NULL), 0);                                                            \
    } while (0)

/* ---- products ---- */

enum { PRODUCT = COLUMNS * COLUMNS, VECTOR = 10 * ROWS, FILTERS = 17, DENSE = FILTERS * COUNT / 3 };
enum { PRODUCTS = PRODUCT + VECTOR + COUNT + DENSE };

static aclTensor *contiguous(void *data, const int64_t *dims, uint64_t rank)
{
    int64_t strides[4] = {0}, step = 1;
    for (uint64_t k = rank; k > 0; step *= dims[--k])
        strides[k - 1] = step;
    aclTensor *made = aclCreateTensor(dims, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, rank, data);
    CHECK(made != NULL);
    return made;
}

static void convolve(float *x, float *weight, float *out, const int64_t *image, const int64_t *kernel, int64_t groups)
{
    const int64_t ones[] = {1, 1}, zeros[] = {0, 0}, result[] = {1, kernel[0], image[2], image[3]};
    aclIntArray *one = aclCreateIntArray(ones, 2), *none = aclCreateIntArray(zeros, 2);
    RUN(Convolution, contiguous(x, image, 4), contiguous(weight, kernel, 4), NULL, one, one, one, false, none, groups,
        contiguous(out, result, 4), 0);
}

/* A matrix product of many tiles, a vector times a matrix, a depthwise convolution and one that is a product. */
static void multiply(float *x, float *y, float *out)
{
    const int64_t turned[] = {COLUMNS, ROWS}, strides[] = {1, COLUMNS}, square[] = {COLUMNS, COLUMNS};
    const int64_t row[] = {1, 100}, wide[] = {100, VECTOR}, line[] = {1, VECTOR};
    const int64_t image[] = {1, ROWS, 25, 40}, each[] = {ROWS, 1, 3, 3};
    const int64_t large[] = {1, 3, 250, 400}, dense[] = {FILTERS, 3, 3, 3};
    aclTensor *left = aclCreateTensor(turned, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, turned, 2, x);
    RUN(Mm, left, tensor(y, COLUMNS, ACL_FLOAT), contiguous(out, square, 2), 0);
    RUN(Mm, contiguous(y, row, 2), contiguous(x, wide, 2), contiguous(out + PRODUCT, line, 2), 0);
    convolve(x, y, out + PRODUCT + VECTOR, image, each, ROWS);
    convolve(x, y, out + PRODUCT + VECTOR + COUNT, large, dense, 1);
}

/* Computes with so many workers; results: RESULTS tensors of float32, and the products. */
static void compute(const char *workers, float *results)
{
    const size_t bytes = COUNT * sizeof(float);
    const int64_t line[] = {COLUMNS}, ones[] = {ROWS, 1}, row[] = {ROWS}, step[] = {1}, two[] = {1, 1};
    float alpha = 0.5f;
    open_with(workers);
    const size_t all = RESULTS * bytes + sizeof(float[PRODUCTS]);
    float *x = device_memory(bytes), *y = device_memory(bytes), *out = device_memory(all);
    for (size_t i = 0; i < COUNT; i++)
        results[i] = (float)((int)(i * 7919 % 2003) - 1000) / 99;
    CHECK_CODE(aclrtMemcpy(x, bytes, results, bytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    CHECK_CODE(aclrtMemcpy(y, bytes, results + 1, bytes - 4, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    CHECK_CODE(aclrtMemset(out, all, 0, all), 0);
    aclTensor *self = tensor(x, COLUMNS, ACL_FLOAT), *other = tensor(y, COLUMNS, ACL_FLOAT), *to[RESULTS];
    for (size_t i = 0; i < RESULTS; i++) /* the rows of the last result share one line */
        to[i] = tensor(out + i * COUNT, i == RESULTS - 1 ? 0 : COLUMNS, i == 1 ? ACL_FLOAT16 : ACL_FLOAT);
    aclTensor *sums = aclCreateTensor(row, 1, ACL_FLOAT, step, 0, ACL_FORMAT_ND, row, 1, out + 4 * COUNT);
    aclTensor *means = aclCreateTensor(ones, 2, ACL_FLOAT, two, 0, ACL_FORMAT_ND, ones, 2, out + 4 * COUNT + ROWS);
    aclIntArray *dims = aclCreateIntArray(step, 1), *shape = aclCreateIntArray(line, 1);
    aclScalar *scale = aclCreateScalar(&alpha, ACL_FLOAT);
    RUN(Add, self, other, scale, to[0]);
    RUN(Add, self, other, scale, to[6]);
    RUN(Cast, self, ACL_FLOAT16, to[1]);
    RUN(GeluV2, self, 0, to[2]);
    RUN(Softmax, self, 1, to[3]);
    RUN(ReduceSum, self, dims, false, ACL_FLOAT, sums);
    RUN(LayerNorm, self, shape, NULL, NULL, 1e-5, to[5], means, NULL);
    multiply(x, y, out + RESULTS * COUNT);
    CHECK_CODE(aclrtSynchronizeDevice(), 0);
    CHECK_CODE(aclrtMemcpy(results, all, out, all, ACL_MEMCPY_DEVICE_TO_HOST), 0);
}

static void test_bits(void)
{
    const size_t bytes = (RESULTS * COUNT + PRODUCTS) * sizeof(float);
    float *alone = calloc(1, bytes), *shared = calloc(1, bytes);
    CHECK(alone != NULL && shared != NULL);
    compute("1", alone);
    CHECK(alone[0] == -1000.0f / 99 + 0.5f * ((7919 % 2003 - 1000) / 99.0f));
    CHECK(memcmp(alone + 6 * COUNT, alone + COUNT - COLUMNS, COLUMNS * sizeof(float)) == 0);
    for (unsigned turn = 0; turn < 3 * stress_factor(); turn++) {
        compute(turn % 2 == 0 ? "5" : "2", shared);
        CHECK(memcmp(alone, shared, bytes) == 0);
    }
    free(alone);
    free(shared);
}

int main(void)
{
    watch_dog(300 * stress_factor());
    test_pieces();
    test_workers_help();
    test_busy_workers();
    test_many_calls();
    test_beside();
    test_bits();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
