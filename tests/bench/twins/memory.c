/* Device memory: allocating and freeing beside many live blocks, copies of 4 bytes and of 64 MiB. */
#include "twin.h"
#include "buffers.h"

#define ALIVE 100000
#define FEW 10
#define BLOCK 4096

static void *large;
static void *blocks[ALIVE];

static int alive;

/* Changes the number of living blocks. Each is written to once, so that no sample has to wait for the pages. */
static void resize_to(int count)
{
    while (alive > count)
        OK(aclrtFree(blocks[--alive]));
    for (; alive < count; alive++) {
        OK(aclrtMalloc(&blocks[alive], BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemsetAsync(blocks[alive], 4, 1, 4, NULL));
    }
    OK(aclrtSynchronizeStream(NULL));
}

static void prepare_blocks(void)
{
    resize_to(ALIVE);
}

static double malloc_and_free(size_t size)
{
    const int count = 20000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        void *block;
        OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtFree(block));
    }
    return twin_each(start, count);
}

static double sample_malloc_free(void)
{
    return malloc_and_free(BLOCK);
}

static double sample_malloc_free_large(void)
{
    return malloc_and_free(LARGE);
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
    make_buffers();
}

/* Speed of a copy to the device, where memcpy between two host buffers is 1. */
static double sample_copy_large(void)
{
    uint64_t start = twin_now();
    memcpy(target, source, LARGE);
    uint64_t middle = twin_now();
    OK(aclrtMemcpy(large, LARGE, source, LARGE, ACL_MEMCPY_HOST_TO_DEVICE));
    return (double)(middle - start) / (double)(twin_now() - middle);
}

/* One of the living blocks, in no order, so that few of 100,000 are in the cache. */
static void **any_block(void)
{
    static uint32_t random = 1;
    random = random * 1664525u + 1013904223u;
    return &blocks[(random >> 8) % (uint32_t)alive];
}

/* Queued sets of 4 bytes to any of the blocks. */
static double sample_enqueue_scattered(void)
{
    const int count = 20000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        OK(aclrtMemsetAsync(*any_block(), 4, 1, 4, NULL));
    double each = twin_each(start, count);
    OK(aclrtSynchronizeStream(NULL));
    return each;
}

/* Frees any of the blocks, and allocates another one. */
static double sample_replace(void)
{
    const int count = 20000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++) {
        void **block = any_block();
        OK(aclrtFree(*block));
        OK(aclrtMalloc(block, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    return twin_each(start, count);
}

static void nothing(void)
{
}

/* How much longer a pass takes with 100,000 blocks than with 10. */
static double growth_of(double (*pass)(void))
{
    resize_to(FEW);
    double few = pass();
    resize_to(ALIVE);
    return pass() / few;
}

static double sample_growth_blocks(void)
{
    return growth_of(sample_replace);
}

static double sample_growth_lookup(void)
{
    return growth_of(sample_enqueue_scattered);
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"malloc_free", prepare_blocks, sample_malloc_free},
        {"malloc_free_large", prepare_blocks, sample_malloc_free_large},
        {"enqueue_scattered", prepare_blocks, sample_enqueue_scattered},
        {"replace", prepare_blocks, sample_replace},
        {"growth_blocks", nothing, sample_growth_blocks},
        {"growth_lookup", nothing, sample_growth_lookup},
        {"copy_4", prepare_large, sample_copy_4},
        {"copy_large", prepare_copy, sample_copy_large},
    };
    return TWIN_MAIN(rows);
}
