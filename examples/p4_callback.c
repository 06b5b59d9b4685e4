/* Asynchronous inference: callbacks read results and release memory while more work is queued.
 * p4_callback [--interval N] [--pool N] [--count N] [--model FILE] */
#include "classifier.h"
#include <acl/acl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE 0
#define IMAGES 2
#define TIMEOUT 20 /* milliseconds after which the thread checks whether it must stop */

struct options {
    long interval; /* executions per callback; 0: no callbacks */
    long pool;     /* number of pairs of an input and an output */
    long count;    /* number of executions */
    const char *model;
};

/* A dataset with one buffer of device memory. */
struct dataset {
    aclmdlDataset *handle;
    aclDataBuffer *buffer;
    void *memory;
    size_t size;
};

/* An input and an output. A pair is either in the pool, or in the list of executions that wait for a callback. */
struct pair {
    struct pair *next;
    struct dataset input, output;
    long number; /* number of the execution */
};

struct list {
    struct pair *first, *last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the pool and `stopped` */
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct list pool;
static bool stopped;

/* Set before the thread starts. */
static aclrtContext context;
static aclrtMemcpyKind to_device, to_host;
static float *scores;

/* Set by callbacks, read after the stream is synchronised. */
static aclError read_ret;
static long read_count;

/* Exits with the reason if a step failed; prints nothing if it succeeded. */
static void require(aclError ret, const char *function)
{
    if (ret != ACL_SUCCESS) {
        fprintf(stderr, "[ERROR] %s failed %d %s\n", function, ret, aclGetRecentErrMsg());
        exit(1);
    }
}

/* Prints that a step succeeded, or exits with the reason why it failed. */
static void check(aclError ret, const char *function, const char *what, ...)
{
    va_list values;
    require(ret, function);
    va_start(values, what);
    printf("[INFO] ");
    vprintf(what, values);
    printf(" ok\n");
    va_end(values);
}

static void append(struct list *list, struct pair *pair)
{
    pair->next = NULL;
    if (list->first == NULL)
        list->first = pair;
    else
        list->last->next = pair;
    list->last = pair;
}

static void give(struct pair *pair)
{
    pthread_mutex_lock(&lock);
    append(&pool, pair);
    pthread_cond_signal(&returned);
    pthread_mutex_unlock(&lock);
}

/* Takes a pair from the pool; waits while the pool is empty. */
static struct pair *take(void)
{
    pthread_mutex_lock(&lock);
    while (pool.first == NULL)
        pthread_cond_wait(&returned, &lock);
    struct pair *pair = pool.first;
    pool.first = pair->next;
    pthread_mutex_unlock(&lock);
    return pair;
}

static void make_dataset(struct dataset *dataset, size_t size)
{
    dataset->size = size;
    require(aclrtMalloc(&dataset->memory, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    dataset->buffer = aclCreateDataBuffer(dataset->memory, size);
    dataset->handle = aclmdlCreateDataset();
    require(aclmdlAddDatasetBuffer(dataset->handle, dataset->buffer), "aclmdlAddDatasetBuffer");
}

static void free_dataset(struct dataset *dataset)
{
    require(aclmdlDestroyDataset(dataset->handle), "aclmdlDestroyDataset");
    require(aclDestroyDataBuffer(dataset->buffer), "aclDestroyDataBuffer");
    require(aclrtFree(dataset->memory), "aclrtFree");
}

/* Fills the pool with pairs; the inputs hold the images in turn. */
static void fill_pool(aclmdlDesc *desc, long count)
{
    size_t input_size = aclmdlGetInputSizeByIndex(desc, 0), output_size = aclmdlGetOutputSizeByIndex(desc, 0);
    float *images[IMAGES];
    scores = (float *)malloc(output_size);
    for (int i = 0; i < IMAGES; i++) {
        images[i] = (float *)malloc(input_size);
        make_image(i, images[i], input_size);
    }
    for (long i = 0; i < count; i++) {
        struct pair *pair = (struct pair *)malloc(sizeof *pair);
        make_dataset(&pair->input, input_size);
        make_dataset(&pair->output, output_size);
        require(aclrtMemcpy(pair->input.memory, input_size, images[i % IMAGES], input_size, to_device), "aclrtMemcpy");
        give(pair);
    }
    for (int i = 0; i < IMAGES; i++)
        free(images[i]);
}

/* Frees the pairs in the pool, and returns how many there were. */
static long free_pool(void)
{
    long count = 0;
    for (; pool.first != NULL; count++) {
        struct pair *pair = take();
        free_dataset(&pair->input);
        free_dataset(&pair->output);
        free(pair);
    }
    free(scores);
    return count;
}

/* A callback: prints the results of a list of executions, and returns their datasets to the pool. */
static void read_results(void *first)
{
    struct pair *next;
    for (struct pair *pair = (struct pair *)first; pair != NULL; pair = next) {
        size_t size = pair->output.size;
        aclError ret = aclrtMemcpy(scores, size, pair->output.memory, size, to_host);
        read_ret = read_ret != ACL_SUCCESS ? read_ret : ret;
        size_t best = top_class(scores, size);
        printf("result %ld class %zu score %f\n", pair->number, best, scores[best]);
        read_count++;
        next = pair->next; /* read first: in the pool, the pair belongs to the launching thread */
        give(pair);
    }
}

static bool has_to_stop(void)
{
    pthread_mutex_lock(&lock);
    bool now = stopped;
    pthread_mutex_unlock(&lock);
    return now;
}

/* Runs the callbacks of the subscribed streams, on a thread of its own, until `stopped` is set. */
static void *serve(void *unused)
{
    (void)unused;
    aclrtSetCurrentContext(context);
    while (!has_to_stop())
        aclrtProcessReport(TIMEOUT);
    return NULL;
}

/* Queues all executions and callbacks, and returns the executions that no callback reads. */
static struct pair *launch(uint32_t model, aclrtStream stream, const struct options *options)
{
    struct list queued = {NULL, NULL};
    long length = 0;
    for (long i = 0; i < options->count; i++) {
        struct pair *pair = take();
        pair->number = i;
        require(aclmdlExecuteAsync(model, pair->input.handle, pair->output.handle, stream), "aclmdlExecuteAsync");
        append(&queued, pair);
        length++;
        if (length == options->interval || (options->interval != 0 && i + 1 == options->count)) {
            require(aclrtLaunchCallback(read_results, queued.first, ACL_CALLBACK_BLOCK, stream), "aclrtLaunchCallback");
            queued.first = NULL;
            length = 0;
        }
    }
    return queued.first;
}

/* Executes the model options->count times and prints all results. */
static void run(uint32_t model, aclrtStream stream, const struct options *options)
{
    pthread_t thread;
    if (options->interval != 0) {
        check(pthread_create(&thread, NULL, serve, NULL), "pthread_create", "start thread");
        check(aclrtSubscribeReport((uint64_t)thread, stream), "aclrtSubscribeReport", "subscribe thread");
    }
    struct pair *left = launch(model, stream, options);
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream", "synchronize stream");
    read_results(left);
    check(read_ret, "aclrtMemcpy", "read %ld results", read_count);
    if (options->interval != 0) {
        check(aclrtUnSubscribeReport((uint64_t)thread, stream), "aclrtUnSubscribeReport", "unsubscribe thread");
        pthread_mutex_lock(&lock);
        stopped = true;
        pthread_mutex_unlock(&lock);
        check(pthread_join(thread, NULL), "pthread_join", "join thread");
    }
}

static void refuse(const char *why, ...)
{
    va_list values;
    va_start(values, why);
    fprintf(stderr, "[ERROR] ");
    vfprintf(stderr, why, values);
    fprintf(stderr, "\n");
    va_end(values);
    exit(1);
}

/* Reads the options; exits if they would make the launching thread wait for ever. */
static struct options read_options(int argc, char **argv)
{
    struct options options = {1, 100, 100, "classifier.om"};
    for (int i = 1; i < argc; i += 2) {
        const char *value = argv[i + 1];
        char *end = NULL;
        long *number = strcmp(argv[i], "--interval") == 0 ? &options.interval
                       : strcmp(argv[i], "--pool") == 0   ? &options.pool
                       : strcmp(argv[i], "--count") == 0  ? &options.count
                                                          : NULL;
        if (number != NULL && value != NULL)
            *number = strtol(value, &end, 10);
        else if (strcmp(argv[i], "--model") == 0 && value != NULL)
            options.model = value;
        else
            refuse("usage: %s [--interval N] [--pool N] [--count N] [--model FILE]", argv[0]);
        if (end != NULL && *end != '\0')
            refuse("%s is not a number", value);
    }
    if (options.interval < 0 || options.pool < 1 || options.count < 0)
        refuse("the pool needs at least 1 pair, and no number may be negative");
    if (options.pool < options.interval)
        refuse("a pool of %ld is too small for a callback every %ld executions", options.pool, options.interval);
    if (options.interval == 0 && options.pool < options.count)
        refuse("a pool of %ld is too small for %ld executions without callbacks", options.pool, options.count);
    return options;
}

int main(int argc, char **argv)
{
    struct options options = read_options(argc, argv);
    aclrtStream stream;
    aclrtRunMode mode;
    size_t work_size, weight_size;
    void *work, *weights;
    uint32_t model;

    make_classifier();
    check(aclInit(NULL), "aclInit", "initialize");
    check(aclrtSetDevice(DEVICE), "aclrtSetDevice", "set device");
    check(aclrtGetCurrentContext(&context), "aclrtGetCurrentContext", "the device's default context");
    check(aclrtCreateStream(&stream), "aclrtCreateStream", "stream");
    aclError ret = aclrtGetRunMode(&mode);
    check(ret, "aclrtGetRunMode", "run mode %s", mode == ACL_HOST ? "ACL_HOST" : "ACL_DEVICE");
    to_device = mode == ACL_HOST ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_DEVICE;
    to_host = mode == ACL_HOST ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;

    check(aclmdlQuerySize(options.model, &work_size, &weight_size), "aclmdlQuerySize", "query size");
    ret = aclrtMalloc(&work, work_size, ACL_MEM_MALLOC_HUGE_FIRST);
    check(ret, "aclrtMalloc", "work memory %zu bytes", work_size);
    ret = aclrtMalloc(&weights, weight_size, ACL_MEM_MALLOC_HUGE_FIRST);
    check(ret, "aclrtMalloc", "weight memory %zu bytes", weight_size);
    ret = aclmdlLoadFromFileWithMem(options.model, &model, work, work_size, weights, weight_size);
    check(ret, "aclmdlLoadFromFileWithMem", "load model");
    aclmdlDesc *desc = aclmdlCreateDesc();
    check(aclmdlGetDesc(desc, model), "aclmdlGetDesc", "describe model");
    fill_pool(desc, options.pool);
    printf("[INFO] pool of %ld inputs and outputs ok\n", options.pool);

    run(model, stream, &options);

    printf("[INFO] free %ld inputs and outputs ok\n", free_pool());
    check(aclmdlUnload(model), "aclmdlUnload", "unload model");
    check(aclmdlDestroyDesc(desc), "aclmdlDestroyDesc", "destroy description");
    check(aclrtFree(work), "aclrtFree", "free work memory");
    check(aclrtFree(weights), "aclrtFree", "free weight memory");
    check(aclrtDestroyStream(stream), "aclrtDestroyStream", "destroy stream");
    check(aclrtResetDevice(DEVICE), "aclrtResetDevice", "reset device");
    check(aclFinalize(), "aclFinalize", "finalize");
    return 0;
}
