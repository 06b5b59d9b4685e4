/* Recorded calls from C: names of blocks and handles, checksums, lines of several threads. The units are those of
 * libacl_record.so, with two functions of this file in place of the generated ones. */
#define RECORD_LIBRARIES "libascendcl.so"
#include "../record/record.c"
#include "../record/record_data.c"
#include "../record/record_file.c"
#include "../record/record_names.c"
#include "check.h"

#include <sys/mman.h>

#define THREADS 4
#define ROUNDS 300

const char *const sim_record_kinds[] = {"block", "pinned", "stream"};
enum { STREAM = 2 };

static const struct sim_record_parameter allocate_parameters[] = {
    {"devPtr", SIM_RECORD_ADDRESS, sizeof(void *), SIM_RECORD_BLOCK, -1, true},
    {"size", SIM_RECORD_UNSIGNED, 0, 0, -1, false},
};
static const struct sim_record_parameter free_parameters[] = {{"devPtr", SIM_RECORD_ADDRESS, 0, 0, -1, false}};
static char memory[THREADS][64];

static aclError allocate(void **devPtr, size_t size)
{
    *devPtr = memory[size % THREADS];
    return ACL_SUCCESS;
}

static aclError release(void *devPtr)
{
    return devPtr != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

static struct sim_record_function functions[] = {
    {"allocate", (void (*)(void))allocate, 0, allocate_parameters, NULL, 2, 1, SIM_RECORD_SIGNED, 0, true, true, false},
    {"release", (void (*)(void))release, 0, free_parameters, NULL, 1, -1, SIM_RECORD_SIGNED, 0, true, false, true},
};
static struct sim_record_function *const sorted[] = {&functions[0], &functions[1]};
const struct sim_record_functions sim_record_functions = {sorted, 2};

static aclError call_allocate(void **devPtr, size_t size)
{
    struct sim_record_call call;
    const uint64_t given[] = {(uint64_t)(uintptr_t)devPtr, size};
    __typeof__(allocate) *next = (__typeof__(allocate) *)sim_record_begin(&call, &functions[0], given);
    aclError code = next(devPtr, size);
    sim_record_end(&call, (uint64_t)code);
    return code;
}

static aclError call_release(void *devPtr)
{
    struct sim_record_call call;
    const uint64_t given[] = {(uint64_t)(uintptr_t)devPtr};
    __typeof__(release) *next = (__typeof__(release) *)sim_record_begin(&call, &functions[1], given);
    aclError code = next(devPtr);
    sim_record_end(&call, (uint64_t)code);
    return code;
}

/* The name that is written for an address or a handle. */
static const char *name(bool is_address, uint64_t value)
{
    static char text[64];
    FILE *to = fmemopen(text, sizeof text, "w");
    if (is_address)
        sim_record_names_put_address(to, value);
    else
        sim_record_names_put_handle(to, STREAM, value);
    fclose(to);
    return text;
}

static void test_names(void)
{
    sim_record_names_make(SIM_RECORD_BLOCK, true, 1000, 100);
    sim_record_names_make(SIM_RECORD_PINNED, true, 1100, 100);
    CHECK(strcmp(name(true, 1000), "\"block#1\"") == 0 && strcmp(name(true, 1099), "\"block#1+99\"") == 0);
    CHECK(strcmp(name(true, 1100), "\"pinned#1\"") == 0 && strcmp(name(true, 1200), "\"host\"") == 0);
    CHECK(sim_record_names_is_device(1050) && !sim_record_names_is_device(1150));
    CHECK(strcmp(name(false, 1000), "\"stream#1\"") == 0 && strcmp(name(false, 1001), "\"stream#2\"") == 0);
    struct sim_record_name *ended = sim_record_names_end(SIM_RECORD_BLOCK, true, 1000);
    CHECK(strcmp(name(true, 1000), "\"host\"") == 0);
    sim_record_names_settle(ended, true);
    CHECK(strcmp(name(true, 1000), "\"block#1\"") == 0);
    ended = sim_record_names_end(SIM_RECORD_BLOCK, true, 1000);
    sim_record_names_make(SIM_RECORD_BLOCK, true, 990, 20); /* by another thread, before the call has failed */
    sim_record_names_settle(ended, true);
    CHECK(strcmp(name(true, 1000), "\"block#2+10\"") == 0);
    sim_record_names_make(SIM_RECORD_BLOCK, true, 900, 1000); /* the others must have ended */
    CHECK(strcmp(name(true, 1150), "\"block#3+250\"") == 0);
    sim_record_names_clear();
    CHECK(strcmp(name(true, 1000), "\"host\"") == 0 && strcmp(name(false, 7), "\"stream#1\"") == 0);
}

static void test_memory_that_is_gone_is_not_read(void)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes[64];
    CHECK(pages != MAP_FAILED && munmap(pages + PAGE, PAGE) == 0);
    CHECK(sim_record_data_read(bytes, (uint64_t)(uintptr_t)pages + PAGE - 16, 64) == 16);
    CHECK(sim_record_data_read(bytes, 8, 64) == 0);
    CHECK(~add_to_checksum(UINT32_MAX, (const unsigned char *)"123456789", 9) == 0xcbf43926); /* known of CRC-32 */
    munmap(pages, PAGE);
}

static void *work(void *number)
{
    void *block;
    for (size_t i = 0; i < ROUNDS; i++) {
        CHECK_CODE(call_allocate(&block, *(size_t *)number), ACL_SUCCESS);
        CHECK_CODE(call_release(NULL), ACL_ERROR_INVALID_PARAM);
        CHECK_CODE(call_release(block), ACL_SUCCESS);
    }
    return NULL;
}

static void test_threads_write_whole_lines(void)
{
    char place[] = "/tmp/test_record-XXXXXX", line[256];
    size_t numbers[THREADS], counts_of[THREADS + 1] = {0};
    pthread_t started[THREADS];
    unsigned thread, number;
    int made = mkstemp(place);
    CHECK(made >= 0 && setenv("ACL_RECORD_CALLS", place, 1) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&started[i], NULL, work, &numbers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(started[i], NULL);
    FILE *lines = fdopen(made, "r");
    CHECK(fgets(line, sizeof line, lines) != NULL && strstr(line, "\"ascendcl calls\",\"version\":1,") != NULL);
    while (fgets(line, sizeof line, lines) != NULL) {
        CHECK(sscanf(line, "{\"thread\":%u,\"number\":%u,", &thread, &number) == 2 && thread <= THREADS);
        CHECK(number == ++counts_of[thread]);
        CHECK(strcmp(line + strlen(line) - 2, "}\n") == 0);
        bool failed = strstr(line, "\"args\":{\"devPtr\":null},\"code\":100000,") != NULL;
        bool freed = strstr(line, "\"args\":{\"devPtr\":\"block#") != NULL && strstr(line, "\"code\":0,") != NULL;
        CHECK(failed || freed || strstr(line, "\"code\":0,\"out\":{\"devPtr\":\"block#") != NULL);
    }
    for (size_t i = 1; i <= THREADS; i++)
        CHECK(counts_of[i] == 3 * ROUNDS);
    fclose(lines);
    unlink(place);
}

int main(void)
{
    functions[0].fn_next = (uintptr_t)allocate;
    functions[1].fn_next = (uintptr_t)release;
    test_names();
    test_memory_that_is_gone_is_not_read();
    test_threads_write_whole_lines();
    sim_record_names_clear();
    return 0;
}
