/* The heaps: blocks, look-ups, pages, released address space, many threads. */
#include "address/heap_inner.h"
#include "check.h"
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)
#define CAPACITY (64 * GIB)
#define NORMAL (2 * GIB)
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 /* the memory of the sanitizer would be counted */
#else
#define SANITIZED 0
#endif

static struct sim_zone *const zone = &sim_heap_zone_of_device;
static const char free_site;

static uint64_t padded(uint64_t size)
{
    return (size + 63) / 32 * 32;
}

static char *take(uint64_t size, enum sim_page page)
{
    return sim_heap_allocate(zone, 0, size, padded(size), page);
}

static void give(const void *block)
{
    CHECK(sim_heap_release(zone, block, &free_site, 7));
}

static uint64_t free_bytes(enum sim_page page)
{
    return sim_heap_pages(zone, 0, page).pg_free;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* A block is found by each address inside it, and by no address outside it. */
static void test_find(void)
{
    for (uint64_t size = 1; size <= 5 * MIB; size += size < 40000 ? 61 : 65521) {
        char *block = take(size, SIM_PAGE_NORMAL);
        uint64_t bytes = padded(size);
        struct sim_block found;
        CHECK(block != NULL && (uintptr_t)block % 512 == 0);
        const uint64_t inside[] = {0, 1, bytes / 2, size - 1, bytes - 1};
        for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
            CHECK(sim_heap_zone_find(zone, block + inside[i], &found));
            CHECK(found.bk_start == (uintptr_t)block && found.bk_size == bytes && found.bk_requested == size);
            CHECK(found.bk_device == 0 && found.bk_page == SIM_PAGE_NORMAL && found.bk_birth != 0);
        }
        CHECK(!sim_heap_zone_find(zone, block + bytes, &found) || found.bk_start != (uintptr_t)block);
        memset(block + zone->zn_engine, 0x5a, bytes);
        give(block);
        CHECK(!sim_heap_zone_find(zone, block, &found));
    }
}

static void test_release(void)
{
    char *block = take(100, SIM_PAGE_NORMAL);
    struct sim_block found, again;
    struct sim_death death;
    CHECK(sim_heap_zone_find(zone, block, &found));
    CHECK(!sim_heap_death(found.bk_birth, &death));
    CHECK(!sim_heap_release(zone, block + 32, NULL, 1));
    give(block);
    CHECK(!sim_heap_release(zone, block, NULL, 1));
    CHECK(!sim_heap_release(zone, &found, NULL, 1));
    CHECK(sim_heap_death(found.bk_birth, &death) && death.dt_site == &free_site && death.dt_thread == 7);
    char *next = take(100, SIM_PAGE_NORMAL);
    CHECK(next == block && sim_heap_zone_find(zone, next, &again) && again.bk_birth != found.bk_birth);
    give(next);
    char *big = take(100 * MIB, SIM_PAGE_HUGE), *middle = take(100000, SIM_PAGE_NORMAL);
    CHECK(!sim_heap_release(zone, big + 2 * MIB, NULL, 1) && !sim_heap_release(zone, middle + 65536, NULL, 1));
    give(big);
    give(middle);
    CHECK(!sim_heap_release(zone, big, NULL, 1) && !sim_heap_release(zone, middle, NULL, 1));
}

static void test_pages(void)
{
    CHECK(free_bytes(SIM_PAGE_NORMAL) == NORMAL && free_bytes(SIM_PAGE_HUGE) == CAPACITY - NORMAL);
    char *small = take(1, SIM_PAGE_NORMAL), *huge = take(1, SIM_PAGE_HUGE), *giant = take(1, SIM_PAGE_GIANT);
    CHECK(free_bytes(SIM_PAGE_NORMAL) == NORMAL - 4096);
    CHECK(free_bytes(SIM_PAGE_HUGE) == CAPACITY - NORMAL - 2 * MIB - GIB);
    CHECK(free_bytes(SIM_PAGE_GIANT) == 60 * GIB);
    give(small);
    give(huge);
    give(giant);

    /* Huge pages never use the normal part. Normal pages split free huge pages when the normal part is used up. */
    CHECK(take(CAPACITY - NORMAL, SIM_PAGE_HUGE) == NULL);
    huge = take(CAPACITY - NORMAL - 32, SIM_PAGE_HUGE);
    CHECK(huge != NULL && free_bytes(SIM_PAGE_HUGE) == 0 && take(1, SIM_PAGE_HUGE) == NULL);
    small = take(NORMAL - 64, SIM_PAGE_NORMAL);
    CHECK(small != NULL && take(1, SIM_PAGE_NORMAL) == NULL);
    give(huge);
    huge = take(GIB, SIM_PAGE_NORMAL);
    CHECK(huge != NULL && free_bytes(SIM_PAGE_HUGE) == CAPACITY - NORMAL - GIB - 2 * MIB);
    struct sim_pages normal = sim_heap_pages(zone, 0, SIM_PAGE_NORMAL), large = sim_heap_pages(zone, 0, SIM_PAGE_HUGE);
    CHECK(normal.pg_total + large.pg_total == CAPACITY);
    give(huge);
    give(small);
    CHECK(take(CAPACITY, SIM_PAGE_NORMAL) == NULL && take(UINT64_MAX / 2, SIM_PAGE_NORMAL) == NULL);
    CHECK(free_bytes(SIM_PAGE_NORMAL) == NORMAL && free_bytes(SIM_PAGE_HUGE) == CAPACITY - NORMAL);
}

/* After everything is freed and trimmed, only the slabs that are kept (one per class) hold address space. */
static void check_given_back(void)
{
    sim_heap_trim(zone, 0);
    struct sim_heap *heap = &zone->zn_heaps[0];
    uint64_t free_units = 0, spans = 0;
    for (uint32_t word = 0; word < heap->hp_count / 64; word++)
        free_units += (uint64_t)__builtin_popcountll(zone->zn_unit_free[word]);
    for (uint32_t unit = heap->hp_partial; unit != 0; unit = zone->zn_unit_info[unit].ui_after)
        spans += SPANS_A_UNIT - (uint32_t)__builtin_popcount(zone->zn_unit_info[unit].ui_free);
    CHECK(heap->hp_cached == 0 && free_bytes(SIM_PAGE_NORMAL) == NORMAL);
    CHECK(spans <= CLASSES && free_units + spans >= heap->hp_count - 1);
}

/* Random allocations: blocks never overlap. Each holds its own pattern, which must be intact when it is freed. */
struct life {
    char *lf_block;
    uint64_t lf_size;
    unsigned char lf_mark;
};

static void *live(void *argument)
{
    enum { BLOCKS = 300, TURNS = 6000 };
    uint64_t state = (uint64_t)(uintptr_t)argument;
    struct life *lives = calloc(BLOCKS, sizeof *lives);
    for (int turn = 0; turn < TURNS; turn++) {
        struct life *life = &lives[next_random(&state) % BLOCKS];
        if (life->lf_block != NULL) {
            for (uint64_t at = 0; at < life->lf_size; at += 97)
                CHECK((unsigned char)life->lf_block[zone->zn_engine + (ptrdiff_t)at] == life->lf_mark);
            give(life->lf_block);
            life->lf_block = NULL;
            continue;
        }
        uint64_t most = next_random(&state) % 8;
        life->lf_size = 1 + next_random(&state) % (most < 5 ? 5000 : most < 7 ? 300000 : 3000000);
        life->lf_mark = (unsigned char)turn;
        life->lf_block = take(life->lf_size, SIM_PAGE_NORMAL);
        CHECK(life->lf_block != NULL);
        memset(life->lf_block + zone->zn_engine, life->lf_mark, life->lf_size);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (lives[i].lf_block != NULL)
            give(lives[i].lf_block);
    free(lives);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, live, (void *)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    check_given_back();
}

/* Threads free the same blocks at the same time: each block once, and its pages are counted once. In every third round,
 * all of them have found the first block alive before any of them gets the lock. */
#define RIVALS 3
#define PRIZES 200
struct race {
    pthread_barrier_t ra_start, ra_end;
    char *ra_blocks[PRIZES]; /* the first is NULL at the end of the race */
    _Atomic int ra_freed;
};

static void *free_too(void *argument)
{
    struct race *race = argument;
    for (;;) {
        pthread_barrier_wait(&race->ra_start);
        if (race->ra_blocks[0] == NULL)
            return NULL;
        for (int i = 0; i < PRIZES; i++)
            race->ra_freed += sim_heap_release(zone, race->ra_blocks[i], &free_site, 7);
        pthread_barrier_wait(&race->ra_end);
    }
}

static void test_rivals(void)
{
    static const uint64_t sizes[] = {100, 100000, 3 * MIB}; /* small, middle, big */
    struct sim_lock *lock = &zone->zn_heaps[0].hp_lock;
    struct race race = {.ra_freed = 0};
    pthread_t threads[RIVALS];
    CHECK(pthread_barrier_init(&race.ra_start, NULL, RIVALS + 1) == 0);
    CHECK(pthread_barrier_init(&race.ra_end, NULL, RIVALS + 1) == 0);
    for (int i = 0; i < RIVALS; i++)
        CHECK(pthread_create(&threads[i], NULL, free_too, &race) == 0);
    for (int round = 0; round < 300; round++) {
        race.ra_freed = 0;
        for (int i = 0; i < PRIZES; i++)
            CHECK((race.ra_blocks[i] = take(sizes[round % 3], SIM_PAGE_NORMAL)) != NULL);
        const bool held = sizes[round % 3] == 3 * MIB;
        if (held)
            sim_lock(lock);
        pthread_barrier_wait(&race.ra_start);
        if (held) {
            while (atomic_load(&lock->lk_sleepers) < RIVALS)
                sched_yield();
            sim_unlock(lock);
        }
        pthread_barrier_wait(&race.ra_end);
        CHECK(race.ra_freed == PRIZES);
    }
    race.ra_blocks[0] = NULL;
    pthread_barrier_wait(&race.ra_start);
    for (int i = 0; i < RIVALS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&race.ra_start);
    pthread_barrier_destroy(&race.ra_end);
    check_given_back();
}

static void test_many(void)
{
    enum { MANY = 100000 };
    char **blocks = calloc(MANY, sizeof *blocks);
    for (int i = 0; i < MANY; i++)
        CHECK((blocks[i] = take(4096, SIM_PAGE_NORMAL)) != NULL);
    CHECK(free_bytes(SIM_PAGE_NORMAL) == NORMAL - MANY * UINT64_C(8192));
    for (int i = 0; i < MANY; i++)
        give(blocks[i * UINT64_C(7919) % MANY]);
    free(blocks);
    check_given_back();
}

/* Address space that was fragmented and cached is available again for a block that needs nearly all of it. */
static void test_fragments(void)
{
    static char *blocks[4000];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4000; i++)
            CHECK((blocks[i] = take((uint64_t)(i % 37 + 1) * 100000, SIM_PAGE_NORMAL)) != NULL);
        for (int i = 0; i < 4000; i++)
            give(blocks[i]);
    }
    char *all = take(CAPACITY - NORMAL - 32, SIM_PAGE_HUGE);
    CHECK(all != NULL);
    give(all);
    check_given_back();
}

static uint64_t resident(void)
{
    char line[128];
    uint64_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmRSS: %" SCNu64, &kilobytes) != 1) {
    }
    fclose(status);
    return kilobytes * 1024;
}

/* Allocates 60 GiB and touches one page in each GiB: the resident memory stays small. */
static void test_resident(uint64_t block_size)
{
    uint64_t count = 60 * GIB / block_size, before = resident();
    char **blocks = calloc(count, sizeof *blocks);
    for (uint64_t i = 0; i < count; i++) {
        CHECK((blocks[i] = sim_heap_allocate(zone, 0, block_size, block_size, SIM_PAGE_HUGE)) != NULL);
        if (i % (GIB / block_size) == 0)
            blocks[i][zone->zn_engine] = 1;
    }
    uint64_t grown = resident() - before;
    if (grown >= 256 * MIB) {
        fprintf(stderr, "60 GiB in blocks of %" PRIu64 " take %" PRIu64 " MiB\n", block_size, grown / MIB);
        exit(1);
    }
    for (uint64_t i = 0; i < count; i++)
        give(blocks[i]);
    free(blocks);
    check_given_back();
}

static void test_close(void)
{
    char *block = take(1000, SIM_PAGE_NORMAL);
    struct sim_block found;
    block[zone->zn_engine] = 1;
    CHECK(take(10 * MIB, SIM_PAGE_HUGE) != NULL && take(100000, SIM_PAGE_NORMAL) != NULL);
    sim_heap_close(zone, 0, NULL);
    CHECK(!sim_heap_zone_find(zone, block, &found) && !sim_heap_release(zone, block, NULL, 1));
    CHECK(take(1, SIM_PAGE_NORMAL) == NULL);
    sim_heap_open(zone, 0, CAPACITY, NORMAL);
    char *again = take(1000, SIM_PAGE_NORMAL);
    CHECK(again != NULL && again[zone->zn_engine] == 0);
    give(again);
    sim_heap_close(zone, 0, NULL);
    sim_heap_zone_close(zone);
    CHECK(!sim_heap_zone_contains(zone, block));
}

int main(void)
{
    CHECK(sim_heap_zone_open(zone, 1, CAPACITY, true) == 0);
    sim_heap_open(zone, 0, CAPACITY, NORMAL);
    test_find();
    test_release();
    test_pages();
    test_threads();
    test_rivals();
    test_many();
    test_fragments();
    for (uint64_t size = GIB; size >= 2 * MIB && !SANITIZED; size /= 8)
        test_resident(size);
    test_close();
    return 0;
}
