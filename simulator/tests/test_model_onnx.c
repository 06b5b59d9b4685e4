/* The process that runs ONNX models, seen from the simulator. This program also plays that process: started with -c it
 * doubles floats, or misbehaves as the text of the model says. */
#include "model/format/format.h"
#include "check.h"
#include <acl/acl_sim.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHANNEL = 3, MEMORY = 4, MODELS = 4096, FLOATS = 5000 };

/* The child starts threads, which ThreadSanitizer refuses by default. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* ---- the process ---- */

static void reply(int32_t code, const char *reason, size_t size)
{
    char bytes[512];
    memcpy(bytes, &code, sizeof code);
    snprintf(bytes + sizeof code, sizeof bytes - sizeof code, "%s", reason);
    if (send(CHANNEL, bytes, size, MSG_NOSIGNAL) < 0)
        _exit(0);
}

static void twice(unsigned char *base, const aclsimModelRun *run, const char *what)
{
    const aclsimTensor *input = (void *)(base + (uintptr_t)run->inputs);
    aclsimTensor *output = (void *)(base + (uintptr_t)run->outputs);
    const uint64_t *capacity = (void *)(base + (uintptr_t)run->capacities);
    const float *in = (void *)(base + (uintptr_t)input->data);
    float *out = (void *)(base + (uintptr_t)output->data);
    if ((uintptr_t)in % 64 != 0 || (uintptr_t)out % 64 != 0)
        _exit(9);
    for (int64_t i = 0; i < input->dims[0]; i++)
        out[i] = 2 * in[i];
    output->rank = strcmp(what, "deep") == 0 ? 9 : 1;
    output->dims[0] = strcmp(what, "large") == 0 ? (int64_t)(*capacity / sizeof *out) + 1 : input->dims[0];
}

static int serve(void)
{
    static char models[MODELS][8]; /* the text of each model, by its number */
    uint64_t size;
    if (fcntl(MEMORY, F_GETFD) < 0 || getsid(0) != getpid())
        return 9;
    while (recv(CHANNEL, &size, sizeof size, 0) == sizeof size) {
        unsigned char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
        const aclsimModelRun *run = (void *)base;
        char *what = models[run->modelId % MODELS];
        bool opens = run->moment == ACLSIM_MODEL_OPEN;
        if (opens)
            memcpy(what, base + (uintptr_t)run->weights, run->weightSize);
        if (strcmp(what, opens ? "refuse" : "raise") == 0)
            reply(1, what, 4 + strlen(what));
        else if (opens && strcmp(what, "end") == 0) {
            reply(2, what, 7);
            return 0;
        } else if (!opens && strcmp(what, "leave") == 0)
            return 5;
        else if (!opens && strcmp(what, "short") == 0)
            reply(0, "", 2);
        else {
            if (run->moment == ACLSIM_MODEL_RUN)
                twice(base, run, what);
            reply(0, "", 4);
        }
        munmap(base, size);
    }
    return 0;
}

/* ---- the program ---- */

static struct sim_model_executor open_model(const char *what)
{
    struct sim_model_executor executor;
    CHECK_CODE(sim_onnx_open((struct sim_bytes){(const unsigned char *)what, strlen(what) + 1}, &executor), 0);
    return executor;
}

static void close_model(const struct sim_model_executor *executor)
{
    executor->me_close(executor->me_state);
}

/* Executes the model on `count` floats, and checks the results if that succeeds. */
static aclError run(const struct sim_model_executor *executor, int64_t count, char reason[SIM_REASON_BYTES])
{
    float *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out);
    CHECK(in != NULL && out != NULL);
    aclsimTensor input = {.data = in, .dims = {count}, .strides = {1}, .rank = 1, .type = ACL_FLOAT};
    aclsimTensor output = {.data = out, .dims = {-1}, .strides = {1}, .rank = 1, .type = ACL_FLOAT};
    uint64_t capacity = (uint64_t)count * sizeof *out;
    aclsimModelRun order = {.inputs = &input, .inputCount = 1, .outputs = &output, .outputCount = 1,
                            .capacities = &capacity};
    for (int64_t i = 0; i < count; i++)
        in[i] = (float)(i + 1);
    aclError code = executor->me_own(executor->me_state, NULL, &order, reason);
    for (int64_t i = 0; code == 0 && i < count; i++)
        CHECK(out[i] == 2 * in[i]);
    CHECK(code != 0 || (output.rank == 1 && output.dims[0] == count));
    free(in);
    free(out);
    return code;
}

static void must_run(const struct sim_model_executor *executor, int64_t count)
{
    char reason[SIM_REASON_BYTES] = "";
    aclError code = run(executor, count, reason);
    if (code != 0)
        fprintf(stderr, "%s\n", reason);
    CHECK(code == 0);
}

static void test_sizes(void)
{
    struct sim_model_executor first = open_model("plain"), second = open_model("plain");
    static const int64_t counts[] = {1, 16, 17, FLOATS, 3, FLOATS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        must_run(&first, counts[i]);
        must_run(&second, counts[i]);
    }
    close_model(&first);
    must_run(&second, 3);
    close_model(&second);
}

/* Whatever the process does, the call fails with a reason, and the next call succeeds. */
static void test_failures(void)
{
    static const char *const runs[][2] = {{"raise", "/proc/self/exe: raise"}, {"deep", "output 0 is larger"},
                                          {"large", "output 0 is larger"}, {"leave", "ended with status 5"},
                                          {"short", "ended with status 0"}};
    struct sim_model_executor good = open_model("plain"), none;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char reason[SIM_REASON_BYTES] = "";
        struct sim_model_executor bad = open_model(runs[i][0]);
        CHECK(run(&bad, 4, reason) == ACL_ERROR_RT_MODEL_EXECUTE && strstr(reason, runs[i][1]) != NULL);
        close_model(&bad);
        must_run(&good, 4);
    }
    CHECK_CODE(sim_onnx_open((struct sim_bytes){(const unsigned char *)"refuse", 7}, &none),
               ACL_ERROR_GE_PARAM_INVALID);
    CHECK_TEXT("/proc/self/exe: refuse");
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(sim_onnx_open((struct sim_bytes){(const unsigned char *)"end", 4}, &none),
                   ACL_ERROR_GE_PARAM_INVALID);
        CHECK_TEXT("/proc/self/exe: end");
    }
    must_run(&good, 4);
    sim_onnx_stop();
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
    must_run(&good, 4);
    close_model(&good);
}

static void *come_and_go(void *argument)
{
    for (int i = 0; i < 20; i++) {
        struct sim_model_executor model = open_model("plain");
        for (int64_t count = 1; count < 40; count += 9)
            must_run(&model, count);
        close_model(&model);
    }
    return argument;
}

static void fork_and_run(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct sim_model_executor model = open_model("plain");
        must_run(&model, 7);
        close_model(&model);
        sim_onnx_stop();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void test_threads_and_forks(void)
{
#ifdef __SANITIZE_THREAD__ /* it attributes the work of the parent's threads to the child */
    enum { FORKS = 0 };
#else
    enum { FORKS = 8 };
#endif
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, come_and_go, NULL) == 0);
    for (int i = 0; i < FORKS; i++)
        fork_and_run();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    fork_and_run();
}

static void test_a_wrong_name(void)
{
    struct sim_model_executor none;
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("python", "/no/such/python"), 0);
    CHECK_CODE(sim_onnx_open((struct sim_bytes){(const unsigned char *)"plain", 6}, &none), ACL_ERROR_GE_PARAM_INVALID);
    CHECK_TEXT("/no/such/python cannot be started: No such file or directory");
}

int main(int count, char **arguments)
{
    alarm(60); /* in both processes, so that a hang is a failure */
    if (count > 1 && strcmp(arguments[1], "-c") == 0)
        _exit(serve());
    CHECK_CODE(aclsimConfigure("python", "/proc/self/exe"), 0);
    test_sizes();
    test_failures();
    test_threads_and_forks();
    test_a_wrong_name();
    return 0;
}
