/* Virtual memory with threads: mappings that are created and removed while work is queued or runs. The other tests are
 * in tests/test_vmm*.py. */
#include "check.h"
#include <acl/acl_sim.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 4, TURNS = 300 };
#define SIZE ((size_t)1 << 21)

static const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};

static size_t free_bytes(void)
{
    size_t left, total;
    CHECK_CODE(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total), 0);
    return left;
}

/* Each thread grows and shrinks a range of its own. */
static void *grow(void *argument)
{
    char first = (char)(uintptr_t)argument;
    aclrtDrvMemHandle handles[2];
    aclrtStream stream;
    char *range, out[2];
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclrtReserveMemAddress((void **)&range, 4 * SIZE, 0, NULL, 0), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        char value = (char)(first + turn);
        for (int i = 0; i < 2; i++) {
            CHECK_CODE(aclrtMallocPhysical(&handles[i], SIZE, &prop, 0), 0);
            CHECK_CODE(aclrtMapMem(range + (size_t)i * SIZE, SIZE, 0, handles[i], 0), 0);
        }
        CHECK_CODE(aclrtMemsetAsync(range + SIZE - 64, 128, value, 128, stream), 0);
        CHECK_CODE(aclrtSynchronizeStream(stream), 0);
        CHECK_CODE(aclrtMemcpy(out, 2, range + SIZE - 1, 2, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        CHECK(out[0] == value && out[1] == value);
        for (int i = 0; i < 2; i++) {
            CHECK_CODE(aclrtFreePhysical(handles[i]), 0);
            CHECK_CODE(aclrtUnmapMem(range + (size_t)i * SIZE), 0);
        }
    }
    CHECK_CODE(aclrtReleaseMemAddress(range), 0);
    CHECK_CODE(aclrtDestroyStream(stream), 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    return NULL;
}

static void test_ranges_of_many_threads(void)
{
    pthread_t threads[THREADS];
    size_t before = free_bytes();
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, grow, (void *)(i * 37)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(free_bytes() == before);
}

static char *shared;
static aclrtDrvMemHandle memory;
static atomic_bool over;

static void *map_and_unmap(void *argument)
{
    (void)argument;
    CHECK_CODE(aclrtSetDevice(0), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK_CODE(aclrtMapMem(shared, SIZE, 0, memory, 0), 0);
        CHECK_CODE(aclrtUnmapMem(shared), 0);
    }
    atomic_store(&over, true);
    CHECK_CODE(aclrtResetDevice(0), 0);
    return NULL;
}

/* Work on a mapping that is created and removed meanwhile runs or is refused, but never crashes. */
static void test_mappings_go_under_work(aclrtStream stream)
{
    pthread_t thread;
    size_t before = free_bytes();
    CHECK_CODE(aclrtReserveMemAddress((void **)&shared, SIZE, 0, NULL, 0), 0);
    CHECK_CODE(aclrtMallocPhysical(&memory, SIZE, &prop, 0), 0);
    CHECK(pthread_create(&thread, NULL, map_and_unmap, NULL) == 0);
    do {
        aclError code = aclrtMemsetAsync(shared, SIZE, 1, SIZE, stream);
        CHECK(code == 0 || code == ACL_ERROR_RT_PARAM_INVALID);
        code = code != 0 ? code : aclrtSynchronizeStream(stream);
        CHECK(code == 0 || code == ACL_ERROR_RT_PARAM_INVALID || code == ACL_ERROR_RT_DEVICE_MEM_ERROR);
    } while (!atomic_load(&over));
    pthread_join(thread, NULL);
    (void)aclGetRecentErrMsg();
    CHECK_CODE(aclrtMemset(shared, 1, 1, 1), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtFreePhysical(memory), 0);
    CHECK_CODE(aclrtReleaseMemAddress(shared), 0);
    CHECK(free_bytes() == before);
}

/* A task that started before the unmapping continues on memory that no other code sees. */
static aclError unmap_and_write(void *argument)
{
    char *place = aclsimTranslate(argument);
    CHECK_CODE(aclrtUnmapMem(argument), 0);
    memset(place, 'x', SIZE);
    return 0;
}

static void test_a_running_task_loses_its_memory(aclrtStream stream)
{
    char *first, *second, out[5] = "";
    aclrtDrvMemHandle handle;
    CHECK_CODE(aclrtReserveMemAddress((void **)&first, 2 * SIZE, 0, NULL, 0), 0);
    second = first + SIZE;
    CHECK_CODE(aclrtMallocPhysical(&handle, SIZE, &prop, 0), 0);
    CHECK_CODE(aclrtMapMem(first, SIZE, 0, handle, 0), 0);
    CHECK_CODE(aclrtMapMem(second, SIZE, 0, handle, 0), 0);
    CHECK_CODE(aclrtMemcpy(first, 4, "kept", 4, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    CHECK_CODE(aclsimLaunchTask(stream, unmap_and_write, first, NULL, 0, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
    CHECK_CODE(aclrtMemcpy(out, 4, second, 4, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK(strcmp(out, "kept") == 0);
    CHECK_CODE(aclrtFreePhysical(handle), 0);
    CHECK_CODE(aclrtUnmapMem(second), 0);
    CHECK_CODE(aclrtReleaseMemAddress(first), 0);
}

/* Objects that a reset released are invalid afterwards, and cannot be released a second time. */
static void test_reset(void)
{
    aclrtDrvMemHandle handle;
    void *range;
    CHECK_CODE(aclrtReserveMemAddress(&range, SIZE, 0, NULL, 0), 0);
    CHECK_CODE(aclrtMallocPhysical(&handle, SIZE, &prop, 0), 0);
    CHECK_CODE(aclrtMapMem(range, SIZE, 0, handle, 0), 0);
    CHECK_CODE(aclrtResetDeviceForce(0), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    size_t before = free_bytes();
    CHECK_CODE(aclrtUnmapMem(range), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CODE(aclrtFreePhysical(handle), ACL_ERROR_RT_INVALID_HANDLE);
    CHECK(free_bytes() == before);
    CHECK_CODE(aclrtReleaseMemAddress(range), 0);
}

int main(void)
{
    aclrtStream stream;
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    test_ranges_of_many_threads();
    test_mappings_go_under_work(stream);
    test_a_running_task_loses_its_memory(stream);
    test_reset();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
