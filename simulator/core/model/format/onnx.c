/* This file executes ONNX models for which the program registered no function: one Python process executes all of them.
 *
 * The program owns the process: it starts with the first model and ends when its socket is closed, so it never outlives
 * the program. Both share memory, which holds the request: an aclsimModelRun with offsets instead of addresses,
 * followed by its data. The message on the socket is the size of that memory; the reply is a code and a reason. `life`
 * counts the starts of the process. A model stores the life in which the process got its bytes; in a later life they
 * are sent again, so that a process that was killed is replaced.
 *
 * Locks: the mutex `turn` guards everything here and is held during a request. It is a mutex because an execution may
 * take long, and waiting threads sleep. No lock of the simulator is taken inside it. */
#include "base/config.h"
#include "base/output.h"
#include "format.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANK_MAX 8
#define CHANNEL 3 /* file descriptors in the process; acl/sim/onnx_process.py uses the same numbers */
#define MEMORY 4
#define INSTALL "pip install 'ascendcl[onnx]' there, or set ACL_SIM_PYTHON to a Python that has it"

/* The Python code of the process. It imports the package that contains this library or, if the library was copied
 * elsewhere, the installed package. */
static const char boot[] =
    "import os, sys\n"
    "sys.path[:] = sys.argv[1:] + [path for path in sys.path if path]\n"
    "os.environ['ACL_BACKEND'] = 'sim'\n"
    "os.environ.pop('ACL_RECORD', None)\n"
    "try:\n"
    "    from acl.sim import onnx_process\n"
    "except Exception as error:\n"
    "    import socket, struct\n"
    "    text = f\"{type(error).__name__}: {error}; " INSTALL "\"\n"
    "    channel = socket.socket(fileno=3)\n"
    "    channel.recv(8)\n" /* closing the socket with an unread request would discard the reply */
    "    channel.send(struct.pack('=i', 2) + text.encode()[:500])\n"
    "    sys.exit(1)\n"
    "onnx_process.serve()\n";

enum { DONE, FAILED, ENDING }; /* codes of replies; ENDING: failed, and the process exits */

struct reply {
    int32_t re_code;
    char re_reason[SIM_REASON_BYTES - sizeof(int32_t)];
};

struct onnx {
    struct sim_bytes on_content;
    uint32_t on_number; /* its id in the process */
    uint64_t on_life;   /* the life in which the process got its bytes */
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pid_t process; /* 0: not running */
static uint64_t life;
static uint32_t last_number;
static int ends[2] = {-1, -1}; /* of the socket: the program's end, and the process's end until it has started */
static int memory = -1;

/* ---- the process ---- */

static void close_file(int *file)
{
    int former = *file;
    *file = -1;
    if (former >= 0)
        close(former);
}

/* Ends the process and returns its wait status; -1 if the program has already waited for it. */
static int stop(void)
{
    int status = 0;
    pid_t former = process;
    process = 0;
    close_file(&ends[0]);
    close_file(&ends[1]);
    close_file(&memory);
    while (former != 0 && waitpid(former, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Moves a descriptor above CHANNEL and MEMORY, so that the dup2 calls of spawn do not overwrite it. */
static bool lift(int *file)
{
    int high = *file < 0 ? -1 : fcntl(*file, F_DUPFD_CLOEXEC, MEMORY + 1);
    close_file(file);
    *file = high;
    return high >= 0;
}

/* Finds ROOT if the library lies inside its package, at ROOT/acl/lib64/libacl_sim.so. */
static bool find_package(char root[PATH_MAX])
{
    Dl_info library;
    char module[PATH_MAX + 32];
    if (dladdr(&life, &library) == 0 || realpath(library.dli_fname, root) == NULL)
        return false;
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(root, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    snprintf(module, sizeof module, "%s/acl/sim/onnx_process.py", root);
    return access(module, R_OK) == 0;
}

/* Starts the process in a session of its own, so that it gets no signals from the terminal. Returns 0 or an errno
 * value. */
static int spawn(const char *python)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t signals;
    char root[PATH_MAX];
    char *arguments[] = {(void *)(uintptr_t)python, "-c", (void *)(uintptr_t)boot, find_package(root) ? root : NULL,
                         NULL};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    int error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(&files, ends[1], CHANNEL);
    error = error != 0 ? error : posix_spawn_file_actions_adddup2(&files, memory, MEMORY);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how, &signals);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = error != 0 ? error : posix_spawnp(&process, python, &files, &how, arguments, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static aclError start(char reason[SIM_REASON_BYTES])
{
    const char *python = sim_config()->cf_python;
    bool open = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 && lift(&ends[1]);
    memory = open ? memfd_create("ascend-onnx", MFD_CLOEXEC) : -1;
    int error = lift(&memory) ? spawn(python) : errno;
    close_file(&ends[1]);
    life++;
    if (error == 0)
        return ACL_SUCCESS;
    process = 0;
    stop();
    snprintf(reason, SIM_REASON_BYTES, "a Python process runs ONNX models, and %s cannot be started: %s; " INSTALL,
             python, strerror(error));
    return ACL_ERROR_RT_MODEL_EXECUTE;
}

/* Whether the process still runs. It sends nothing without a request, so the socket is readable only after its end. */
static bool is_alive(void)
{
    char byte;
    return process != 0 && recv(ends[0], &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

/* ---- requests ---- */

static void say_end(char reason[SIM_REASON_BYTES], int status)
{
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(reason, SIM_REASON_BYTES, "the Python process that runs ONNX models was killed by signal %d",
                 WTERMSIG(status));
    else if (status >= 0)
        snprintf(reason, SIM_REASON_BYTES, "the Python process that runs ONNX models ended with status %d",
                 WEXITSTATUS(status));
    else
        snprintf(reason, SIM_REASON_BYTES, "the Python process that runs ONNX models ended");
}

static aclError ask(uint64_t size, char reason[SIM_REASON_BYTES])
{
    struct reply reply;
    ssize_t got;
    do
        got = send(ends[0], &size, sizeof size, MSG_NOSIGNAL);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
        do
            got = recv(ends[0], &reply, sizeof reply, 0);
        while (got < 0 && errno == EINTR);
    }
    if (got < (ssize_t)sizeof reply.re_code) {
        say_end(reason, stop());
        return ACL_ERROR_RT_MODEL_EXECUTE;
    }
    if (reply.re_code == DONE)
        return ACL_SUCCESS;
    snprintf(reason, SIM_REASON_BYTES, "%s: %.*s", sim_config()->cf_python, (int)(got - (ssize_t)sizeof reply.re_code),
             reply.re_reason);
    if (reply.re_code == ENDING)
        stop();
    return ACL_ERROR_RT_MODEL_EXECUTE;
}

/* Rounds up a size in the shared memory, so that arrays begin at the alignment that onnxruntime prefers. */
static uint64_t room(uint64_t size)
{
    return (size + SIM_LINE - 1) / SIM_LINE * SIM_LINE;
}

static uint64_t input_bytes(const aclsimModelRun *run, size_t input)
{
    return sim_model_shape_bytes(run->inputs[input].type, run->inputs[input].dims, run->inputs[input].rank);
}

/* The offset of the outputs, which follow the order, the tensors, the capacities and the inputs. */
static uint64_t begin_of_outputs(const aclsimModelRun *run, uint64_t *begin_of_inputs)
{
    uint64_t at = room(sizeof *run + (run->inputCount + run->outputCount) * sizeof(aclsimTensor) +
                       run->outputCount * sizeof(uint64_t));
    *begin_of_inputs = at;
    for (size_t i = 0; i < run->inputCount; i++)
        at += room(input_bytes(run, i));
    return at;
}

static uint64_t end_of_outputs(const aclsimModelRun *run, uint64_t at)
{
    for (size_t i = 0; i < run->outputCount; i++)
        at += room(run->capacities[i]);
    return at;
}

static void *offset(uint64_t at)
{
    return (void *)(uintptr_t)at;
}

static void put(unsigned char *base, uint64_t at, const void *data, uint64_t size)
{
    if (size != 0)
        memcpy(base + at, data, size);
}

static aclsimTensor *tensors_in(unsigned char *base)
{
    return (aclsimTensor *)(void *)(base + sizeof(aclsimModelRun));
}

static void write_order(unsigned char *base, const aclsimModelRun *run, uint64_t outputs, uint64_t at)
{
    size_t count = run->inputCount + run->outputCount;
    aclsimModelRun *order = (void *)base;
    aclsimTensor *tensors = tensors_in(base);
    *order = *run;
    order->name = NULL;
    order->userData = NULL;
    order->inputs = offset(sizeof *run);
    order->outputs = offset(sizeof *run + run->inputCount * sizeof *tensors);
    order->capacities = offset(sizeof *run + count * sizeof *tensors);
    put(base, sizeof *run + count * sizeof *tensors, run->capacities, run->outputCount * sizeof(uint64_t));
    for (size_t i = 0; i < run->inputCount; i++) {
        tensors[i] = run->inputs[i];
        tensors[i].data = offset(at);
        put(base, at, run->inputs[i].data, input_bytes(run, i));
        at += room(input_bytes(run, i));
    }
    for (size_t i = 0; i < run->outputCount; i++) {
        tensors[run->inputCount + i] = run->outputs[i];
        tensors[run->inputCount + i].data = offset(outputs);
        outputs += room(run->capacities[i]);
    }
    order->weights = offset(outputs);
    put(base, outputs, run->weights, run->weightSize);
}

static aclError read_outputs(unsigned char *base, const aclsimModelRun *run, uint64_t at, char reason[SIM_REASON_BYTES])
{
    const aclsimTensor *made = tensors_in(base) + run->inputCount;
    for (size_t i = 0; i < run->outputCount; i++) {
        aclsimTensor *output = &run->outputs[i];
        uint64_t size =
            made[i].rank > RANK_MAX ? UINT64_MAX : sim_model_shape_bytes(output->type, made[i].dims, made[i].rank);
        if (size > run->capacities[i]) {
            snprintf(reason, SIM_REASON_BYTES, "output %zu is larger than its buffer", i);
            return ACL_ERROR_RT_MODEL_EXECUTE;
        }
        output->rank = made[i].rank;
        memcpy(output->dims, made[i].dims, sizeof output->dims);
        memcpy(output->strides, made[i].strides, sizeof output->strides);
        if (size != 0)
            memcpy(output->data, base + at, size);
        at += room(run->capacities[i]);
    }
    return ACL_SUCCESS;
}

static aclError exchange(const aclsimModelRun *run, char reason[SIM_REASON_BYTES])
{
    uint64_t inputs, outputs = begin_of_outputs(run, &inputs);
    uint64_t size = end_of_outputs(run, outputs) + run->weightSize;
    void *base = MAP_FAILED;
    if (sim_output_resize(memory, size) == 0)
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (base == MAP_FAILED) {
        snprintf(reason, SIM_REASON_BYTES, "%llu bytes cannot be shared with the Python process: %s",
                 (unsigned long long)size, strerror(errno));
        return ACL_ERROR_RT_MODEL_EXECUTE;
    }
    write_order(base, run, outputs, inputs);
    aclError code = ask(size, reason);
    if (code == ACL_SUCCESS)
        code = read_outputs(base, run, outputs, reason);
    munmap(base, size);
    return code;
}

/* ---- models ---- */

/* Starts the process if necessary, and sends it the model unless it has it. */
static aclError give(struct onnx *onnx, char reason[SIM_REASON_BYTES])
{
    if (!is_alive()) {
        stop();
        SIM_TRY(start(reason));
    }
    if (onnx->on_life == life)
        return ACL_SUCCESS;
    aclsimModelRun order = {.modelId = onnx->on_number, .moment = ACLSIM_MODEL_OPEN,
                            .weights = onnx->on_content.by_data, .weightSize = onnx->on_content.by_size};
    SIM_TRY(exchange(&order, reason));
    onnx->on_life = life;
    return ACL_SUCCESS;
}

static aclError run_onnx(void *state, struct sim_run *unused, const aclsimModelRun *run, char reason[SIM_REASON_BYTES])
{
    (void)unused;
    struct onnx *onnx = state;
    aclsimModelRun order = *run;
    order.modelId = onnx->on_number;
    pthread_mutex_lock(&turn);
    aclError code = give(onnx, reason);
    if (code == ACL_SUCCESS)
        code = exchange(&order, reason);
    pthread_mutex_unlock(&turn);
    return code;
}

static void close_onnx(void *state)
{
    struct onnx *onnx = state;
    char reason[SIM_REASON_BYTES];
    aclsimModelRun order = {.modelId = onnx->on_number, .moment = ACLSIM_MODEL_CLOSE};
    pthread_mutex_lock(&turn);
    if (process != 0 && onnx->on_life == life)
        exchange(&order, reason); /* if it fails, the process only keeps the model longer */
    pthread_mutex_unlock(&turn);
    free(onnx);
}

aclError sim_onnx_open(struct sim_bytes content, struct sim_model_executor *executor)
{
    char reason[SIM_REASON_BYTES];
    struct onnx *onnx = calloc(1, sizeof *onnx);
    SIM_ARGUMENT(onnx != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for an ONNX model");
    onnx->on_content = content;
    pthread_mutex_lock(&turn);
    onnx->on_number = ++last_number;
    aclError code = give(onnx, reason);
    pthread_mutex_unlock(&turn);
    if (code != ACL_SUCCESS) {
        free(onnx);
        return sim_refuse(ACL_ERROR_GE_PARAM_INVALID, "%s", reason);
    }
    *executor = (struct sim_model_executor){.me_own = run_onnx, .me_state = onnx, .me_close = close_onnx};
    return ACL_SUCCESS;
}

void sim_onnx_stop(void)
{
    pthread_mutex_lock(&turn);
    stop();
    pthread_mutex_unlock(&turn);
}

/* The process belongs to the parent. The child closes the socket, because the process would otherwise outlive the
 * parent. */
void sim_onnx_after_fork(void)
{
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    process = 0;
    stop();
}
