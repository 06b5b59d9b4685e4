/* The trace: threads record calls and tasks while the file is written, which must be whole each time; a small limit,
 * writing after a failure, names without a variant. */
#include "check.h"

#include <acl/acl_sim.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUBMITTERS = 3, ALLOCATORS = 2, THREADS = SUBMITTERS + ALLOCATORS, ROUNDS = 400, EACH = 8 };

typedef aclError (*malloc_function)(void **block, size_t size, aclrtMemMallocPolicy policy);
typedef aclError (*set_function)(void *block, size_t most, int32_t value, size_t count, aclrtStream stream);
typedef aclError (*device_function)(int32_t device);
typedef aclError (*stream_function)(aclrtStream stream);

static malloc_function traced_malloc;
static set_function traced_memset;
static stream_function traced_synchronize;
static _Atomic int running;   /* threads */
static _Atomic uint64_t made; /* calls of traced_memset that have returned */
static char folder[] = "/tmp/acl-test-trace-XXXXXX", path[64];

static void start(const char *name, const char *limit)
{
    CHECK_CODE(aclsimReset(), 0);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_CODE(aclsimConfigure("trace", path), 0);
    CHECK_CODE(aclsimConfigure("trace_limit", limit), 0);
    traced_malloc = (malloc_function)(uintptr_t)aclsimTraced("aclrtMalloc");
    traced_memset = (set_function)(uintptr_t)aclsimTraced("aclrtMemsetAsync");
    traced_synchronize = (stream_function)(uintptr_t)aclsimTraced("aclrtSynchronizeStream");
    CHECK(traced_malloc != NULL && traced_memset != NULL && traced_synchronize != NULL);
    CHECK_CODE(aclrtSetDevice(0), 0);
}

/* ---- the file ---- */

static char *read_file(void)
{
    FILE *file = fopen(path, "r");
    struct stat status;
    CHECK(file != NULL && fstat(fileno(file), &status) == 0);
    char *text = calloc((size_t)status.st_size + 1, 1);
    CHECK(text != NULL && fread(text, 1, (size_t)status.st_size, file) == (size_t)status.st_size);
    fclose(file);
    return text;
}

/* Each line except the first and the last is one object, whose braces and quotes match. */
static void check_line(const char *line)
{
    int depth = 0;
    bool quoted = false;
    CHECK(strncmp(line, "{\"name\":\"", 9) == 0);
    for (const char *at = line; *at != '\0'; at++) {
        CHECK((unsigned char)*at >= ' ' && (depth > 0 || at == line || strcmp(at, ",") == 0));
        if (*at == '\\' && quoted)
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && (*at == '{' || *at == '}'))
            depth += *at == '{' ? 1 : -1;
    }
    CHECK(depth == 0 && !quoted);
}

/* Checks the file, and returns how many of its lines contain a text. */
static uint64_t count_lines(const char *part)
{
    char *text = read_file(), *rest = text, *line = strsep(&rest, "\n");
    uint64_t count = 0;
    CHECK(strncmp(line, "{\"displayTimeUnit\"", 18) == 0);
    for (line = strsep(&rest, "\n"); rest != NULL && *line != ']'; line = strsep(&rest, "\n")) {
        check_line(line);
        count += strstr(line, part) != NULL;
    }
    CHECK(rest != NULL && strcmp(line, "]}") == 0 && *rest == '\0');
    free(text);
    return count;
}

static uint64_t dropped(void)
{
    char *text = read_file(), *found = strstr(text, "\"dropped\":");
    CHECK(found != NULL);
    uint64_t number = strtoull(found + strlen("\"dropped\":"), NULL, 10);
    free(text);
    return number;
}

/* ---- threads ---- */

static void *submit(void *stream)
{
    void *block;
    CHECK(aclrtSetDevice(0) == 0 && traced_malloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < EACH; i++) {
            CHECK(traced_memset(block, 64, i, 64, stream) == 0);
            atomic_fetch_add(&made, 1);
        }
        CHECK(traced_synchronize(stream) == 0);
    }
    CHECK(aclrtFree(block) == 0);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *allocate(void *unused)
{
    (void)unused;
    CHECK(aclrtSetDevice(0) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        void *block;
        CHECK(traced_malloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(block) == 0);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Writes while the threads run, and once more. Each file has the calls that had returned before, unless some were
 * dropped. */
static void record_and_write(const char *name, const char *limit, bool drops)
{
    pthread_t threads[THREADS];
    aclrtStream streams[SUBMITTERS];
    bool last = false;
    start(name, limit);
    atomic_store(&running, THREADS);
    atomic_store(&made, 0);
    for (int i = 0; i < THREADS; i++) {
        if (i < SUBMITTERS)
            CHECK_CODE(aclrtCreateStream(&streams[i]), 0);
        CHECK(pthread_create(&threads[i], NULL, i < SUBMITTERS ? submit : allocate, streams[i % SUBMITTERS]) == 0);
    }
    while (!last) {
        last = atomic_load(&running) == 0;
        uint64_t before = atomic_load(&made);
        CHECK_CODE(aclsimWriteTrace(), 0);
        CHECK(count_lines("{\"name\":\"aclrtMemsetAsync\",\"cat\":\"api\"") >= before || drops);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    uint64_t calls = count_lines("{\"name\":\"aclrtMemsetAsync\",\"cat\":\"api\"");
    uint64_t tasks = count_lines("{\"name\":\"aclrtMemsetAsync\",\"cat\":\"MEMCPY_ASYNC_SET\"");
    CHECK((dropped() > 0) == drops && count_lines("\"older events were dropped\"") == drops);
    CHECK(drops ? calls < SUBMITTERS * ROUNDS * EACH : calls == SUBMITTERS * ROUNDS * EACH && tasks == calls);
}

static void test_a_write_while_threads_record_is_whole(void)
{
    record_and_write("whole.json", "1G", false);
}

static void test_a_write_while_chunks_are_reused_is_whole(void)
{
    record_and_write("small.json", "128K", true);
}

static void *write_trace(void *unused)
{
    CHECK_CODE(aclsimWriteTrace(), 0);
    return unused;
}

static void fail_calls(int32_t first, int32_t count)
{
    const device_function traced_device = (device_function)(uintptr_t)aclsimTraced("aclrtSetDevice");
    for (int32_t i = 0; i < count; i++)
        CHECK(traced_device(first + i) == ACL_ERROR_RT_INVALID_DEVICEID);
}

/* The file is a pipe, so the write stops in the middle while more events come than there is room for. */
static void test_events_during_a_write_replace_nothing(void)
{
    enum { CALLS = 10000, ROOM = 1 << 24 };
    static char text[ROOM];
    pthread_t writer;
    size_t size = 0;
    ssize_t got;
    start("held.json", "256K");
    CHECK(mkfifo(path, 0600) == 0);
    fail_calls(1000000, CALLS);
    struct pollfd reader = {open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), POLLIN, 0};
    CHECK(reader.fd >= 0 && pthread_create(&writer, NULL, write_trace, NULL) == 0 && poll(&reader, 1, -1) == 1);
    fail_calls(2000000, CALLS);
    CHECK(fcntl(reader.fd, F_SETFL, 0) == 0);
    while ((got = read(reader.fd, text + size, ROOM - size)) > 0)
        size += (size_t)got;
    CHECK(got == 0 && size > 1 << 17 && pthread_join(writer, NULL) == 0);
    CHECK(close(reader.fd) == 0 && remove(path) == 0);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fwrite(text, 1, size, file) == size && fclose(file) == 0);
    CHECK(count_lines("\"deviceId\":1009999,") == 1 && count_lines("\"deviceId\":2") == 0);
}

/* ---- the rest ---- */

static void test_the_newest_events_are_kept_and_the_others_are_counted(void)
{
    enum { CALLS = 3000 };
    char newest[64];
    start("newest.json", "64K");
    fail_calls(1000000, CALLS);
    CHECK_CODE(aclsimWriteTrace(), 0);
    snprintf(newest, sizeof newest, "\"deviceId\":%d,", 1000000 + CALLS - 1);
    uint64_t kept = count_lines("{\"name\":\"aclrtSetDevice\"");
    CHECK(count_lines(newest) == 1 && kept >= 64 && kept + dropped() == CALLS);
}

static void test_a_failed_write_loses_nothing(void)
{
    void *block;
    start("late/t.json", "1M");
    CHECK_CODE(traced_malloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclsimWriteTrace(), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("/late/t.json cannot be written: No such file or directory");
    *strrchr(path, '/') = '\0';
    CHECK(mkdir(path, 0700) == 0);
    path[strlen(path)] = '/';
    CHECK_CODE(aclsimWriteTrace(), 0);
    CHECK(count_lines("{\"name\":\"aclrtMalloc\",\"cat\":\"api\"") == 1);
    CHECK_CODE(aclrtFree(block), 0);
}

static void test_names_without_a_variant(void)
{
    static const char *const names[] = {"", "acl", "aclrtMallo", "aclrtMallocc", "malloc", "aclsimWriteTrace", "zzz"};
    start("names.json", "1M");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(aclsimTraced(names[i]) == NULL);
    CHECK(aclsimTraced(NULL) == NULL);
    CHECK_CODE(aclsimReset(), 0);
    CHECK(aclsimTraced("aclrtMalloc") == NULL);
    CHECK_CODE(aclsimWriteTrace(), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("nothing is traced");
}

static void remove_files(void)
{
    static const char *const names[] = {"whole.json",  "small.json", "held.json", "newest.json",
                                        "late/t.json", "late",       "names.json", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK(remove(path) == 0);
    }
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_a_write_while_threads_record_is_whole();
    test_a_write_while_chunks_are_reused_is_whole();
    test_events_during_a_write_replace_nothing();
    test_the_newest_events_are_kept_and_the_others_are_counted();
    test_a_failed_write_loses_nothing();
    test_names_without_a_variant();
    remove_files();
    puts("ok");
    return 0;
}
