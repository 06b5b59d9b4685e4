/* Device memory: taking and giving back beside many live blocks, copies of 4 bytes and of 64 MiB. */
#include "twin.h"

#define ALIVE 100000
#define BLOCK 4096
#define LARGE (64u << 20)

static void *large;
static void *blocks[ALIVE];
static char *source, *target;

static void prepare_blocks(void)
{
    for (int i = 0; i < ALIVE; i++)
        OK(aclrtMalloc(&blocks[i], BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
}

static double sample_malloc_free(void)
{
    const int count = 20000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        void *block;
        OK(aclrtMalloc(&block, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtFree(block));
    }
    return twin_each(start, count);
}

static void prepare_large(void)
{
    OK(aclrtMalloc(&large, LARGE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(large, LARGE, 0, LARGE));
}

static double sample_copy_4(void)
{
    const int count = 50000;
    uint32_t number = 7;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        OK(aclrtMemcpy((char *)large + BLOCK, LARGE - BLOCK, &number, sizeof number, ACL_MEMCPY_HOST_TO_DEVICE));
    return twin_each(start, count);
}

static void prepare_copy(void)
{
    prepare_large();
    source = malloc(LARGE);
    target = malloc(LARGE);
    if (source == NULL || target == NULL)
        exit(1);
    memset(source, 1, LARGE);
    memset(target, 0, LARGE);
}

/* Time of a copy to the device, where memcpy between two host buffers is 1. */
static double sample_copy_large(void)
{
    uint64_t start = twin_now();
    memcpy(target, source, LARGE);
    uint64_t middle = twin_now();
    OK(aclrtMemcpy(large, LARGE, source, LARGE, ACL_MEMCPY_HOST_TO_DEVICE));
    return (double)(twin_now() - middle) / (double)(middle - start);
}

/* Queued sets of 4 bytes to blocks in no order, so that few of them are in the cache. */
static double sample_enqueue_scattered(void)
{
    const int count = 20000;
    uint32_t random = 1;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        OK(aclrtMemsetAsync(blocks[(random >> 8) % ALIVE], 4, 1, 4, NULL));
    }
    double each = twin_each(start, count);
    OK(aclrtSynchronizeStream(NULL));
    return each;
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"malloc_free", prepare_blocks, sample_malloc_free},
        {"enqueue_scattered", prepare_blocks, sample_enqueue_scattered},
        {"copy_4", prepare_large, sample_copy_4},
        {"copy_large", prepare_copy, sample_copy_large},
    };
    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
