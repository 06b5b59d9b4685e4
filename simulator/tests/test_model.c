/* Models from C: executions, unloading during executions, functions that are registered and removed, forks. */
#include "engine.h"
#include "model_file.h"
#include <sys/wait.h>
#include <unistd.h>

/* The child starts threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* ---- executions ---- */

static uint32_t load(const struct file *file)
{
    uint32_t id = 0;
    CHECK_CODE(aclmdlLoadFromMem(file->bytes, file->size, &id), 0);
    return id;
}

static void test_runs(void)
{
    struct file file = make_file("double");
    CHECK_CODE(aclsimRegisterModel("double", NULL, 0, double_it, NULL), 0);
    uint32_t id = load(&file);
    struct sides sides = make_sides();
    aclrtStream stream = make_stream();
    set_input(&sides, 5);
    CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), 0);
    check_output(&sides, 10);
    set_input(&sides, -1);
    CHECK_CODE(aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    check_output(&sides, -2);
    CHECK_CODE(aclmdlUnload(id), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    free_sides(&sides);
}

/* ---- memory and files that are refused ---- */

static void test_memory_of_the_program(void)
{
    struct file file = make_file("double");
    size_t sizes[2], before, after, total;
    void *work, *weights;
    uint32_t id;
    CHECK_CODE(aclmdlQuerySizeFromMem(file.bytes, file.size, &sizes[0], &sizes[1]), 0);
    CHECK(sizes[0] == WORK && sizes[1] == WEIGHTS);
    CHECK_CODE(aclrtMalloc(&work, WORK, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMalloc(&weights, WEIGHTS, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), 0);
    for (size_t less = 0; less < 4; less++) { /* bit 0: the work memory is 1 byte too small; bit 1: the weights are */
        aclError code = aclmdlLoadFromMemWithMem(file.bytes, file.size, &id, work, WORK - less % 2, weights,
                                                 WEIGHTS - less / 2);
        CHECK(code == (less == 0 ? 0 : ACL_ERROR_GE_PARAM_INVALID));
        if (less != 0)
            CHECK_TEXT(less % 2 ? "workSize is 127, expected at least 128" : "weightSize is 63, expected at least 64");
    }
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0);
    CHECK(after == before);
    CHECK_CODE(aclmdlUnload(id), 0);
    id = load(&file);
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0);
    CHECK(after < before);
    CHECK_CODE(aclmdlUnload(id), 0);
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0);
    CHECK(after == before);
    CHECK_CODE(aclrtFree(work), 0);
    CHECK_CODE(aclrtFree(weights), 0);
}

static void test_wrong_counts_and_ids(void)
{
    struct file file = make_file("double");
    struct sides sides = make_sides();
    aclmdlDataset *none = aclmdlCreateDataset();
    aclmdlDesc *desc = aclmdlCreateDesc();
    aclrtStream stream = make_stream();
    uint32_t id = load(&file);
    for (int round = 0; round < 2; round++) {
        CHECK_CODE(aclmdlExecute(id, none, sides.datasets[1]), ACL_ERROR_GE_PARAM_INVALID);
        CHECK_TEXT(round == 0 ? "input has 0 buffers, expected 1" : "input has 2 buffers, expected 1");
        CHECK_CODE(aclmdlExecuteAsync(id, sides.datasets[0], none, stream), ACL_ERROR_GE_PARAM_INVALID);
        CHECK_TEXT(round == 0 ? "output has 0 buffers, expected 1" : "output has 2 buffers, expected 1");
        for (int i = 0; i < 2; i++)
            CHECK_CODE(aclmdlAddDatasetBuffer(none, sides.buffers[i]), 0);
    }
    CHECK_CODE(aclmdlUnload(id), 0);
    for (int round = 0; round < 2; round++, id = 0xFFFFFFFF) {
        CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
        CHECK_CODE(aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], stream),
                   ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
        CHECK_CODE(aclmdlGetDesc(desc, id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
        CHECK_CODE(aclmdlUnload(id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclmdlDestroyDesc(desc), 0);
    CHECK_CODE(aclmdlDestroyDataset(none), 0);
    free_sides(&sides);
}

/* ---- inputs and buffers whose size is not that of the shape ---- */

/* Makes a file with an input of `bytes` bytes and an unchanged shape. */
static struct file make_sized(uint64_t bytes)
{
    struct file file = make_file("double");
    memcpy(file.bytes + file.size - 2 * (8 + 4 + 32 + 1 + 16) + 12, &bytes, sizeof bytes);
    return file;
}

/* Sums the input: the rest of an input that is too short must be zero. */
static aclError sum_up(const aclsimModelRun *run)
{
    const float *from = run->inputs[0].data;
    float *to = run->outputs[0].data;
    for (int i = 0; i < 4; i++)
        to[i] = from[0] + from[1] + from[2] + from[3];
    return 0;
}

static void test_short_buffers(void)
{
    struct sides sides = make_sides();
    uint32_t id;
    CHECK_CODE(aclsimRegisterModel("double", NULL, 0, sum_up, NULL), 0);
    for (uint64_t bytes = 16; bytes <= 80; bytes += 64) { /* the second size is 64 bytes larger than the buffer */
        struct file file = make_sized(bytes);
        float values[4];
        id = load(&file);
        set_input(&sides, 5);
        CHECK_CODE(aclrtMemset(sides.memory[1], 16, 0, 16), 0);
        CHECK_CODE(aclUpdateDataBuffer(sides.buffers[0], sides.memory[0], bytes == 16 ? 8 : 16), 0);
        CHECK_CODE(aclUpdateDataBuffer(sides.buffers[1], sides.memory[1], 4), 0);
        CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), 0);
        CHECK_CODE(aclrtMemcpy(values, 16, sides.memory[1], 16, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        CHECK(values[0] == (bytes == 16 ? 5 + 6 : 5 + 6 + 7 + 8) && values[1] == 0 && values[3] == 0);
        CHECK_CODE(aclmdlUnload(id), 0);
    }
    struct file file = make_sized(81);
    id = load(&file);
    CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), ACL_ERROR_GE_PARAM_INVALID);
    CHECK_TEXT("81");
    CHECK_CODE(aclmdlUnload(id), 0);
    CHECK_CODE(aclsimRegisterModel("double", NULL, 0, double_it, NULL), 0);
    free_sides(&sides);
}

/* Loading these bytes fails with this code, from a file and from memory; from memory, fewer than 256 bytes fail with
 * 100000. */
static void check_bytes(const void *bytes, size_t size, aclError code)
{
    char path[] = "/tmp/test_model_XXXXXX";
    uint32_t id = 7;
    int number = mkstemp(path);
    CHECK(number >= 0 && write(number, bytes, size) == (ssize_t)size && close(number) == 0);
    CHECK_CODE(aclmdlLoadFromFile(path, &id), code);
    CHECK(unlink(path) == 0);
    CHECK_CODE(aclmdlLoadFromFile(path, &id), ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID);
    CHECK_CODE(aclmdlLoadFromMem(bytes, size, &id), size < 256 ? ACL_ERROR_INVALID_PARAM : code);
    CHECK(id == 7);
}

static void test_bad_files(void)
{
    struct file file = make_file("double");
    const uint32_t counts[] = {0, 9, 4096, 0xFFFFFFFF};
    for (size_t size = 0; size < file.size; size += 64)
        check_bytes(file.bytes, size, ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID);
    check_bytes(file.bytes, file.size - 1, ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID);
    file.bytes[0]++;
    check_bytes(file.bytes, file.size, ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID);
    CHECK_TEXT("0x444f4d49");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        file = make_file("double");
        memcpy(file.bytes + 256, &counts[i], sizeof counts[i]);
        check_bytes(file.bytes, file.size, ACL_ERROR_GE_PARAM_INVALID);
        CHECK_TEXT("partitions");
    }
    file = make_file("double");
    memset(file.bytes + 256 + 8 + 16, 0xff, 8); /* the size of the first partition */
    check_bytes(file.bytes, file.size, ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID);
    file = make_sized(15);
    check_bytes(file.bytes, file.size, ACL_ERROR_GE_PARAM_INVALID);
    CHECK_TEXT("input 0 of the model has 15 bytes, expected at least the 16 of its shape");
}

/* ---- functions that fail with a reason ---- */

static aclError fail_with(const aclsimModelRun *run)
{
    CHECK_CODE(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM); /* a call that fails inside must not replace the message */
    CHECK_CODE(aclsimSetReason("it was replaced"), 0);
    if (run->userData != NULL)
        CHECK_CODE(aclsimSetReason(run->userData), 0);
    return ACL_ERROR_RT_MODEL_EXECUTE;
}

static aclError fail_in_silence(const aclsimModelRun *run)
{
    (void)run;
    return ACL_ERROR_RT_MODEL_EXECUTE;
}

static void test_reasons(void)
{
    struct file file = make_file("broken");
    struct sides sides = make_sides();
    aclrtStream stream = make_stream();
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "two\nlines ", 10);
    text[sizeof text - 1] = '\0';
    CHECK_CODE(aclsimSetReason("nobody asked"), 0);
    CHECK_CODE(aclsimSetReason(NULL), ACL_ERROR_INVALID_PARAM);

    CHECK_CODE(aclsimRegisterModel("broken", NULL, 0, fail_with, "too hot"), 0);
    uint32_t id = load(&file);
    CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), ACL_ERROR_RT_MODEL_EXECUTE);
    CHECK_TEXT("aclmdlExecute failed because the function of model \"broken\" failed: too hot;");
    CHECK_CODE(aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], stream), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), ACL_ERROR_RT_MODEL_EXECUTE);
    CHECK_TEXT("aclmdlExecuteAsync failed because the function of model \"broken\" failed: too hot;");
    CHECK_CODE(aclmdlUnload(id), 0);

    CHECK_CODE(aclsimRegisterModel("broken", NULL, 0, fail_with, text), 0);
    id = load(&file);
    CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), ACL_ERROR_RT_MODEL_EXECUTE);
    CHECK_TEXT("failed: two lines xxx");
    CHECK_CODE(aclmdlUnload(id), 0);

    /* A function that sets no reason does not inherit an earlier one. */
    CHECK_CODE(aclsimRegisterModel("broken", NULL, 0, fail_in_silence, NULL), 0);
    id = load(&file);
    CHECK_CODE(aclmdlExecute(id, sides.datasets[0], sides.datasets[1]), ACL_ERROR_RT_MODEL_EXECUTE);
    CHECK_TEXT("the function of model \"broken\" failed;");
    CHECK_CODE(aclmdlUnload(id), 0);
    CHECK_CODE(aclsimRegisterModel("broken", NULL, 0, NULL, NULL), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    free_sides(&sides);
}

/* ---- unloading during executions ---- */

struct pause {
    struct latch begun, let;
};

static aclError pause_run(const aclsimModelRun *run)
{
    struct pause *pause = run->userData;
    latch_open(&pause->begun);
    latch_wait(&pause->let, 1);
    return 0;
}

static void *unload(void *id)
{
    CHECK_CODE(aclmdlUnload((uint32_t)(uintptr_t)id), 0);
    return NULL;
}

/* Unloading waits for the execution that runs and for the queued one; the id is invalid immediately. */
static void test_unloading_waits(void)
{
    struct pause pause = {LATCH, LATCH};
    struct file file = make_file("pause");
    CHECK_CODE(aclsimRegisterModel("pause", NULL, 0, pause_run, &pause), 0);
    uint32_t id = load(&file);
    struct sides sides = make_sides();
    aclrtStream stream = make_stream();
    for (int i = 0; i < 2; i++)
        CHECK_CODE(aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], stream), 0);
    latch_wait(&pause.begun, 1);
    pthread_t thread = start(unload, (void *)(uintptr_t)id);
    while (aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], stream) == 0)
        continue; /* until the id is invalid; executions that come too late may fail */
    latch_open(&pause.let);
    pthread_join(thread, NULL);
    aclrtSynchronizeStream(stream);
    CHECK_CODE(aclmdlUnload(id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    free_sides(&sides);
}

/* Threads execute one model, each with its own data, while it is unloaded: each call executes all of it or nothing. */
struct runner {
    _Atomic uint32_t *id;
    _Atomic uint32_t *runs;
    atomic_bool *stop;
};

static void *run_often(void *argument)
{
    struct runner *runner = argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    struct sides sides = make_sides();
    aclrtStream stream = make_stream();
    for (uint32_t round = 0; !atomic_load(runner->stop); round++) {
        uint32_t id = atomic_load(runner->id);
        set_input(&sides, (float)round);
        aclError code = round % 2 ? aclmdlExecute(id, sides.datasets[0], sides.datasets[1])
                                  : aclmdlExecuteAsync(id, sides.datasets[0], sides.datasets[1], stream);
        if (code == 0)
            code = aclrtSynchronizeStream(stream);
        CHECK(code == 0 || code == ACL_ERROR_GE_EXEC_MODEL_ID_INVALID || code == ACL_ERROR_RT_MODEL_EXECUTE);
        if (code != 0)
            continue;
        check_output(&sides, 2 * (float)round);
        atomic_fetch_add(runner->runs, 1);
    }
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    free_sides(&sides);
    return NULL;
}

/* Registers and removes functions all the time, for a model that is never loaded and for the one that is executed. */
static void *register_often(void *argument)
{
    struct runner *runner = argument;
    struct file file = make_file("other");
    while (!atomic_load(runner->stop)) {
        CHECK_CODE(aclsimRegisterModel("other", file.bytes, file.size, double_it, NULL), 0);
        CHECK_CODE(aclsimRegisterModel("double", NULL, 0, double_it, NULL), 0);
        CHECK_CODE(aclsimRegisterModel("other", NULL, 0, NULL, NULL), 0);
    }
    return NULL;
}

static void test_models_come_and_go(void)
{
    enum { RUNNERS = 3 };
    struct file file = make_file("double");
    _Atomic uint32_t id = load(&file), runs = 0;
    atomic_bool stop = false;
    struct runner runner = {&id, &runs, &stop};
    pthread_t threads[RUNNERS + 1];
    for (int i = 0; i < RUNNERS; i++)
        threads[i] = start(run_often, &runner);
    threads[RUNNERS] = start(register_often, &runner);
    uint32_t rounds = 100 * stress_factor();
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t next = load(&file), last = atomic_exchange(&id, next), seen = atomic_load(&runs);
        while (atomic_load(&runs) == seen) /* until the new model was executed */
            sched_yield();
        CHECK_CODE(aclmdlUnload(last), 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i <= RUNNERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclmdlUnload(atomic_load(&id)), 0);
}

/* ---- reset and fork ---- */

static void test_reset_and_fork(void)
{
    struct file file = make_file("double");
    uint32_t id = load(&file);
    aclmdlDesc *desc = aclmdlCreateDesc();
    CHECK_CODE(aclmdlGetDesc(desc, id), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        CHECK_CODE(aclmdlUnload(id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
        CHECK(aclmdlGetNumInputs(desc) == 0);
        CHECK_CODE(aclInit(NULL), 0);
        CHECK_CODE(aclrtSetDevice(0), 0);
        CHECK(load(&file) > id);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(aclmdlGetNumInputs(desc) == 1);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclmdlUnload(id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    CHECK_CODE(aclmdlDestroyDesc(desc), ACL_ERROR_INVALID_PARAM);
}

int main(void)
{
    watch_dog(60);
    for (int i = 0; i < 2; i++) {
        open_device(i == 0 ? "parallel" : "eager");
        CHECK_CODE(aclInit(NULL), 0);
        test_runs();
        test_reasons();
        if (i == 0) {
            test_memory_of_the_program();
            test_wrong_counts_and_ids();
            test_bad_files();
            test_short_buffers();
        }
        if (i == 0)
            test_unloading_waits();
        test_models_come_and_go();
        test_reset_and_fork();
    }
    return 0;
}
