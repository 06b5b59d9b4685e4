/* Models from C: runs, unloading in the middle of them, registered functions that come and go, forks of the process. */
#include "engine.h"
#include "model.h"
#include <sys/wait.h>

/* The child starts threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* ---- a file: four floats in, four out ---- */

struct file {
    unsigned char bytes[1024];
    size_t size;
};

static void put(struct file *file, uint64_t value, size_t size)
{
    memcpy(file->bytes + file->size, &value, size);
    file->size += size;
}

static void put_port(struct file *file, uint32_t tag, const char *name)
{
    uint32_t length = (uint32_t)strlen(name);
    put(file, tag, 4);
    put(file, 4 + 32 + length + 16, 4);
    put(file, 1, 4);
    put(file, 16, 8); /* bytes, format, type, and the lengths of what follows */
    put(file, ACL_FORMAT_ND, 4);
    put(file, ACL_FLOAT, 4);
    put(file, length, 4);
    put(file, 8, 4);
    put(file, 8, 4);
    put(file, 0, 4);
    memcpy(file->bytes + file->size, name, length);
    file->size += length;
    put(file, 4, 8);
    put(file, 4, 8);
}

static struct file make_file(const char *name)
{
    struct file file = {.size = 256};
    uint32_t length = (uint32_t)strlen(name);
    put(&file, 2, 8);
    put(&file, SIM_PART_MODEL_DEF, 8);
    put(&file, 0, 8);
    put(&file, 2 + length, 8);
    put(&file, SIM_PART_INOUT, 8);
    put(&file, 0, 8);
    put(&file, 2 * (8 + 4 + 32 + 1 + 16), 8);
    put(&file, 0x0a, 1); /* the definition: its name alone */
    put(&file, length, 1);
    memcpy(file.bytes + file.size, name, length);
    file.size += length;
    put_port(&file, 0, "x");
    put_port(&file, 1, "y");
    size_t size = file.size;
    file.size = 0;
    put(&file, 0x444F4D49, 4);
    put(&file, 256, 4);
    put(&file, 0x20000000, 4);
    file.size = 184;
    put(&file, size - 256, 8);
    file.size = size;
    return file;
}

/* ---- runs ---- */

struct sides {
    aclmdlDataset *datasets[2];
    aclDataBuffer *buffers[2];
    void *memory[2];
};

static struct sides make_sides(void)
{
    struct sides sides;
    for (int i = 0; i < 2; i++) {
        sides.datasets[i] = aclmdlCreateDataset();
        CHECK_CODE(aclrtMalloc(&sides.memory[i], 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        sides.buffers[i] = aclCreateDataBuffer(sides.memory[i], 16);
        CHECK_CODE(aclmdlAddDatasetBuffer(sides.datasets[i], sides.buffers[i]), 0);
    }
    return sides;
}

static void free_sides(struct sides *sides)
{
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclDestroyDataBuffer(sides->buffers[i]), 0);
        CHECK_CODE(aclrtFree(sides->memory[i]), 0);
        CHECK_CODE(aclmdlDestroyDataset(sides->datasets[i]), 0);
    }
}

static uint32_t load(const struct file *file)
{
    uint32_t id = 0;
    CHECK_CODE(aclmdlLoadFromMem(file->bytes, file->size, &id), 0);
    return id;
}

static aclError double_it(const aclsimModelRun *run)
{
    const float *from = run->inputs[0].data;
    float *to = run->outputs[0].data;
    CHECK(run->inputCount == 1 && run->outputCount == 1 && run->capacities[0] == 16);
    for (int i = 0; i < 4; i++)
        to[i] = 2 * from[i];
    return 0;
}

static void set_input(struct sides *sides, float first)
{
    float values[4] = {first, first + 1, first + 2, first + 3};
    CHECK_CODE(aclrtMemcpy(sides->memory[0], 16, values, 16, ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

static void check_output(struct sides *sides, float first)
{
    float values[4];
    CHECK_CODE(aclrtMemcpy(values, 16, sides->memory[1], 16, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    for (int i = 0; i < 4; i++)
        CHECK(values[i] == first + 2 * (float)i);
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

/* ---- unloading in the middle ---- */

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

/* The unloading waits for the run that goes on and for the one behind it; the id is dead at once. */
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
        continue; /* until the id is dead; these runs may come too late, and fail */
    latch_open(&pause.let);
    pthread_join(thread, NULL);
    aclrtSynchronizeStream(stream);
    CHECK_CODE(aclmdlUnload(id), ACL_ERROR_GE_EXEC_MODEL_ID_INVALID);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    free_sides(&sides);
}

/* Threads run one model, each with its own data, while it is unloaded: every call runs it whole, or not at all. */
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

/* Functions are registered and taken back all the while, under names that nobody loads and under the model's own. */
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
        while (atomic_load(&runs) == seen) /* each model is used */
            sched_yield();
        CHECK_CODE(aclmdlUnload(last), 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i <= RUNNERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(aclmdlUnload(atomic_load(&id)), 0);
}

/* ---- the end of everything ---- */

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
        if (i == 0)
            test_unloading_waits();
        test_models_come_and_go();
        test_reset_and_fork();
    }
    return 0;
}
