/* Calls every function with random bad arguments, each function in a process of its own, and demands that it neither
 * crashes nor hangs nor leaks, and that a good program still runs afterwards.
 *
 *     driver [-n calls] [-s seed] [-v] [function ...]
 *
 * "(mixed)" is one more entry: calls of many functions in random order. What is outside the rule of "any input" is
 * never drawn: host addresses that are not mapped, and sizes beyond the host memory they come with. */
#include "driver.h"
#include <acl/acl_rt_allocator.h>
#include <acl/acl_rt_memory_soma.h>
#include <acl/acl_sim.h>
#include <acl/acl_tdt.h>
#include <aclnnop/aclnn_gelu.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS 64
#define HOST_BYTES (1u << 20)
#define HOST_COUNT 1024       /* the largest count drawn with host memory: HOST_BYTES hold as many of any declared
                               * struct */
#define DRAWN_WORDS 256       /* of an array; the rest repeats them */
#define ROUND 100             /* calls until the world is made anew */
#define GROWTH_PAGES 2048     /* of resident memory, from the end of the first round to the last */
#ifndef SECONDS
#define SECONDS 20            /* until a child counts as hanging, for each 10,000 calls */
#endif
#define BLOCK ((size_t)1 << 20)
#define REACH ((size_t)32 << 30) /* the device's address range goes on for at least as much behind the first block */

/* There when AddressSanitizer is, which keeps what was freed: memory grows without a leak. */
extern void __asan_init(void) __attribute__((weak));

/* Shared with the child, so that its last call is known after a crash. */
struct progress {
    uint64_t pr_call;
    uint64_t pr_drawn[ARGUMENTS];
    uint32_t pr_count;
    char pr_stage[16];
    const char *pr_function;
    long pr_growth;
};
static struct progress *progress;

static uint64_t state;
static bool huge; /* numbers of this call may be huge, and void * is no host memory */
static unsigned char *host, *zeros;
static uint64_t handles[128];
static size_t handle_count;
static unsigned char *block, *freed;
static void *pooled, *managed; /* NULL where the chip has none */

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t below(uint64_t limit)
{
    return next() % limit;
}

static uint64_t note(uint64_t value)
{
    if (progress->pr_count < ARGUMENTS)
        progress->pr_drawn[progress->pr_count++] = value;
    return value;
}

static void *note_pointer(void *value)
{
    note((uint64_t)(uintptr_t)value);
    return value;
}

/* ---- pools ---- */

uint64_t draw_number(void)
{
    static const uint64_t large[] = {
        1025, 4096, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 40, INT64_MAX, (uint64_t)INT64_MIN,
        UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 4096,
    };
    if (huge && below(2) == 0)
        return note(below(8) == 0 ? next() : large[below(sizeof large / sizeof *large)]);
    return note(below(2) == 0 ? below(8) : below(HOST_COUNT + 1));
}

size_t draw_room(void)
{
    static const uint64_t refused[] = {0, 0x80000000, INT64_MAX, UINT64_MAX};
    return note(below(4) == 0 ? refused[below(sizeof refused / sizeof *refused)] : below(HOST_COUNT + 1));
}

int64_t draw_enum(int64_t least, int64_t most)
{
    switch (below(8)) {
    case 0:
        return (int64_t)note((uint64_t)(least - 1));
    case 1:
        return (int64_t)note((uint64_t)(most + 1));
    case 2:
        return (int64_t)note(next());
    default:
        return (int64_t)note((uint64_t)(least + (int64_t)below((uint64_t)(most - least < 64 ? most - least + 1 : 64))));
    }
}

int32_t draw_milliseconds(void)
{
    static const int32_t times[] = {INT32_MIN, -2, 0, 1, 1, 2};
    int32_t value = times[below(sizeof times / sizeof *times)];
    note((uint64_t)(int64_t)value);
    return value;
}

float draw_float(void)
{
    uint32_t bits = (uint32_t)note((uint32_t)next());
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t any_handle(void)
{
    uint64_t live = handles[below(handle_count)];
    switch (below(8)) {
    case 0:
        return next();
    case 1:
        return live ^ 1ull << below(64);
    case 2:
        return below(1 << 16);
    case 3:
        return 0;
    default:
        return live;
    }
}

static void *any_device_address(void)
{
    switch (below(6)) {
    case 0:
        return block;
    case 5:
        return pooled != NULL ? pooled : block;
    case 1:
        return block + below(BLOCK);
    case 2:
        return block + BLOCK;
    case 3:
        return freed;
    default:
        return block + below(REACH);
    }
}

/* A part of host memory for the next argument alone. */
static void *host_part(unsigned char *from)
{
    return from + (size_t)HOST_BYTES * (progress->pr_count % ARGUMENTS);
}

void draw_bytes(void *value, size_t size)
{
    unsigned char *bytes = value;
    bool zero = below(4) == 0;
    for (size_t i = 0; i < size; i++)
        bytes[i] = zero ? 0 : below(3) == 0 ? (unsigned char)next() : 0;
    note((uint64_t)bytes[0]);
}

void *draw_handle(void)
{
    return note_pointer((void *)(uintptr_t)any_handle());
}

enum { ZEROS, NUMBERS, ADDRESSES, HANDLES, KINDS };

/* Memory with words of one of the kinds below `kinds`. */
static void *some_words(unsigned kinds)
{
    if (below(8) == 0)
        return note_pointer(NULL);
    uint64_t *words = host_part(host);
    uint64_t kind = below(kinds);
    for (size_t i = 0; i < DRAWN_WORDS; i++)
        words[i] = kind == ZEROS       ? 0
                   : kind == NUMBERS   ? below(8)
                   : kind == ADDRESSES ? (uint64_t)(uintptr_t)any_device_address()
                                       : any_handle();
    for (size_t i = DRAWN_WORDS; i < 2 * HOST_COUNT; i++)
        words[i] = words[i - DRAWN_WORDS];
    return note_pointer(words);
}

void *draw_words(void)
{
    return some_words(KINDS);
}

void *draw_no_handles(void)
{
    return some_words(HANDLES);
}

void *draw_zeros(void)
{
    if (below(8) == 0)
        return note_pointer(NULL);
    void *place = host_part(zeros);
    memset(place, 0, 65536);
    return note_pointer(place);
}

void *draw_memory(void)
{
    switch (below(huge ? 3 : 5)) {
    case 0:
        return note_pointer(NULL);
    case 1:
    case 2: /* managed memory is the host's too, so it is none in a call with huge numbers */
        return note_pointer(!huge && managed != NULL && below(4) == 0 ? managed : any_device_address());
    default:
        return draw_words();
    }
}

static char memory_key[65], notify_key[65]; /* of things that live in the world */
static char *const texts[] = {
    "", "a", "0", "name", "/nonexistent/file.om", "\xff\xfe\x01", "{\"dump\": {", "Ascend910B3", "0000:01:00.0", NULL,
    NULL /* long */, "a/b\\c\n\t\"'", "soc", memory_key, notify_key,
    "%s%s%s%n",
};
#define TEXTS (sizeof texts / sizeof *texts)
static char long_text[65536];

/* Made anew: an earlier call may have written a conversion into it, and now it may be a format. */
static char *fresh_long_text(void)
{
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    return long_text;
}

static void *text(size_t limit)
{
    size_t place = below(limit);
    if (place == 10)
        return fresh_long_text();
    if (texts[place] == NULL)
        return NULL;
    return strcpy(host_part(host), texts[place]);
}

/* Both what a function reads and where it writes, so it lies in large writable memory. */
void *draw_text(void)
{
    return note_pointer(text(TEXTS));
}

/* Nothing that could be written to. */
void *draw_path(void)
{
    static const uint64_t places[] = {0, 4, 9, 10};
    uint64_t place = places[below(4)];
    return note_pointer(place == 10             ? fresh_long_text()
                        : texts[place] == NULL ? NULL
                                               : strcpy(host_part(host), texts[place]));
}

void *draw_plain_text(void)
{
    return note_pointer(text(TEXTS - 1));
}

void *draw_texts(void)
{
    char **list = host_part(host);
    for (size_t i = 0; i < 2 * HOST_COUNT; i++)
        list[i] = texts[below(9)];
    return note_pointer(list);
}

/* Few of them lie outside live memory, so that copies get far. */
void *draw_addresses(void)
{
    void **list = host_part(host);
    bool device = below(2) == 0, mixed = below(4) == 0;
    for (size_t i = 0; i < 2 * HOST_COUNT; i++) {
        bool other = mixed && below(16) == 0;
        list[i] = other ? any_device_address()
                  : device ? (void *)(block + below(BLOCK / 2)) : (void *)(host + below(HOST_BYTES));
    }
    return note_pointer(list);
}

/* Of copies to the device, from it, or neither. */
void *draw_locations(void)
{
    aclrtMemcpyBatchAttr *list = draw_zeros();
    uint64_t type = below(3);
    for (size_t i = 0; list != NULL && i < HOST_COUNT; i++) {
        list[i].dstLoc.type = type == 0 ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
        list[i].srcLoc.type = type == 1 ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    }
    return list;
}

/* Lists of numbers, each as long as the largest count. */
void *draw_lists(void)
{
    uint64_t **lists = host_part(host);
    uint64_t *words = (uint64_t *)lists + 2 * HOST_COUNT;
    for (size_t i = 0; i < 2 * HOST_COUNT; i++) {
        lists[i] = below(9) == 0 ? NULL : words;
        words[i] = next();
    }
    return note_pointer(lists);
}

static int64_t harmless(void)
{
    return 0;
}

void *draw_function(void)
{
    return note_pointer(below(4) == 0 ? NULL : (void *)(uintptr_t)harmless);
}

/* ---- the world that bad calls meet ---- */

#include "world.h"

static void run_good_program(void)
{
    void *device;
    aclrtStream stream;
    unsigned char bytes[4096];
    GOOD(aclsimReset());
    GOOD(aclrtSetDevice(0));
    GOOD(aclrtCreateStream(&stream));
    GOOD(aclrtMalloc(&device, sizeof bytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    GOOD(aclrtMemsetAsync(device, sizeof bytes, 0x5a, sizeof bytes, stream));
    GOOD(aclrtSynchronizeStream(stream));
    GOOD(aclrtMemcpy(bytes, sizeof bytes, device, sizeof bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i] != 0x5a)
            _exit(2);
    GOOD(aclrtFree(device));
    GOOD(aclrtDestroyStream(stream));
    GOOD(aclrtResetDevice(0));
    GOOD(aclsimReset());
}

static long resident_pages(void)
{
    long size, resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL || fscanf(statm, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (statm != NULL)
        fclose(statm);
    return resident;
}

static void call(const struct entry *entry, uint64_t number)
{
    progress->pr_call = number;
    progress->pr_count = 0;
    progress->pr_function = entry->en_name;
    huge = below(2) == 0;
    entry->en_call();
}

static const struct entry *any_entry(void)
{
    for (;;) {
        const struct entry *entry = &entries[below(entry_count)];
        if (!entry->en_waits)
            return entry;
    }
}

static void stage(const char *name)
{
    snprintf(progress->pr_stage, sizeof progress->pr_stage, "%s", name);
}

/* The child: `entry` is NULL for the mixed run. */
static void run(const struct entry *entry, uint64_t calls, uint64_t seed)
{
    long early = 0;
    state = seed * 0x9e3779b97f4a7c15ull | 1;
    for (uint64_t number = 0; number < calls; number++) {
        if (number % ROUND == 0) {
            stage("set-up");
            make_world();
            if (number == ROUND)
                early = resident_pages();
            stage("call");
        }
        call(entry != NULL ? entry : any_entry(), number);
    }
    stage("good program");
    run_good_program();
    progress->pr_growth = early != 0 ? resident_pages() - early : 0;
    stage("exit");
    exit(0);
}

/* ---- the parent ---- */

static void report(const char *name, uint64_t seed, int status)
{
    const char *what = WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status))
                                           : "fails";
    printf("%s: %s during %s, call %llu of seed %llu: %s(", name, what, progress->pr_stage,
           (unsigned long long)progress->pr_call, (unsigned long long)seed,
           progress->pr_function != NULL ? progress->pr_function : "");
    for (uint32_t i = 0; i < progress->pr_count; i++)
        printf("%s%#llx", i != 0 ? ", " : "", (unsigned long long)progress->pr_drawn[i]);
    printf(")\n");
    fflush(stdout);
}

static bool try_entry(const struct entry *entry, uint64_t calls, uint64_t seed, bool verbose)
{
    int status = 0;
    memset(progress, 0, sizeof *progress);
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        if (!verbose)
            dup2(nowhere, STDERR_FILENO);
        alarm((unsigned)(SECONDS * (1 + calls / 10000)));
        run(entry, calls, seed);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    const char *name = entry != NULL ? entry->en_name : "(mixed)";
    if (status != 0) {
        report(name, seed, status);
        return false;
    }
    if (progress->pr_growth > GROWTH_PAGES && __asan_init == NULL) {
        printf("%s: resident memory grew by %ld pages in %llu calls of seed %llu\n", name, progress->pr_growth,
               (unsigned long long)calls, (unsigned long long)seed);
        return false;
    }
    return true;
}

static bool is_wanted(const char *name, char **names)
{
    if (*names == NULL)
        return true;
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

int main(int argc, char **argv)
{
    uint64_t calls = 200, seed = 1;
    bool verbose = false;
    for (int option; (option = getopt(argc, argv, "n:s:v")) != -1;) {
        if (option == 'n')
            calls = strtoull(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'v')
            verbose = true;
        else
            return 2;
    }
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    host = mmap(NULL, (size_t)ARGUMENTS * HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    zeros = mmap(NULL, (size_t)ARGUMENTS * HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t tried = 0, bad = 0;
    for (size_t i = 0; i <= entry_count; i++) {
        const struct entry *entry = i < entry_count ? &entries[i] : NULL;
        if (!is_wanted(entry != NULL ? entry->en_name : "(mixed)", argv + optind))
            continue;
        tried++;
        bad += !try_entry(entry, entry != NULL ? calls : 20 * calls, seed, verbose);
    }
    printf("%zu functions, %llu calls each: %zu bad\n", tried, (unsigned long long)calls, bad);
    return bad != 0 || tried == 0;
}
