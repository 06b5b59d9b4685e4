"""The overloads of acl_rt_api.h: what each forwards, and that calls written as in C keep their meaning."""

import re
from pathlib import Path

import pytest
from helpers import elf, programs

import acl

HEADER = Path(acl.get_include()) / "acl" / "acl_rt_api.h"
TABLE = bytes(range(1, 33))
BINARY = elf.object_file(code=[("kernel", b"\1" * 16)], data=[("table", TABLE), ("pointer", bytes(8))])

START = r"""
#include <acl/acl.h>
#include <acl/acl_rt_api.h>
#include <acl/acl_sim.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(what) ((what) ? (void)0 : (std::printf("line %d: %s: %s\n", __LINE__, #what, aclGetRecentErrMsg()), \
                                         std::exit(1)))
#define GOOD(call) CHECK((call) == ACL_SUCCESS)

struct Pixel { unsigned char bytes[4]; };
enum { SIZE = 64, PAGE = 2 << 20 };
static aclrtStream stream;
static aclrtEvent event;

static void begin()
{
    GOOD(aclInit(nullptr));
    GOOD(aclrtSetDevice(0));
    GOOD(aclrtCreateStream(&stream));
    GOOD(aclrtCreateEvent(&event));
}

static void end()
{
    GOOD(aclrtSynchronizeStream());
    GOOD(aclrtDestroyEvent(event));
    GOOD(aclrtDestroyStream(stream));
    GOOD(aclFinalize());
    std::puts("done");
}
"""

MEMORY = r"""
static bool on_device(const void *address)
{
    aclrtPtrAttributes found;
    GOOD(aclrtPointerGetAttributes(address, found));
    return found.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

int main()
{
    begin();
    float *values = nullptr, *host = nullptr, *cached = nullptr;
    const Pixel *aligned = nullptr;
    void *plain = nullptr;
    GOOD(aclrtMalloc(&values, SIZE));
    GOOD(aclrtMallocAlign32(&aligned, SIZE));
    GOOD(aclrtMallocCached(&cached, SIZE));
    CHECK(on_device(values) && on_device(aligned) && on_device(cached));
    GOOD(aclrtFree(cached));
    GOOD(aclrtMallocCached(&cached, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
    GOOD(aclrtFree(cached));
    GOOD(aclrtMallocWithCfg(&cached, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    GOOD(aclrtFree(cached));
    GOOD(aclrtMallocForTaskScheduler(&cached, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    GOOD(aclrtFree(cached));
    GOOD(aclrtMallocHost(&host, SIZE));
    CHECK(!on_device(host));
    GOOD(aclrtFreeHost(host));
    GOOD(aclrtMallocHostWithCfg(&host, SIZE));

    /* A typed null pointer is refused as in C, and a refused call leaves the variable as it is. */
    CHECK(aclrtMalloc(static_cast<float **>(nullptr), SIZE) == ACL_ERROR_INVALID_PARAM);
    float *kept = values;
    CHECK(aclrtMalloc(&kept, 0) != ACL_SUCCESS && kept == values);

    host[0] = 1.5f;
    GOOD(aclrtMemcpyAsync(values, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    GOOD(aclrtMemcpy2dAsync(values + 1, 4, host, 4, 4, 1, ACL_MEMCPY_HOST_TO_DEVICE));
    GOOD(aclrtMemsetAsync(values + 2, 4, 0, 4));
    GOOD(aclrtMemsetD32Async(values + 3, 4, 0x3f800000, 1));
    GOOD(aclrtMemcpyAsync(host, SIZE, values, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    GOOD(aclrtSynchronizeStream());
    CHECK(host[0] == 1.5f && host[1] == 1.5f && host[2] == 0 && host[3] == 1);

    alignas(4096) static char page[2][4096];
    char *seen = nullptr;
    GOOD(aclrtHostRegister(page[0], 4096, ACL_HOST_REGISTER_MAPPED, &seen));
    CHECK(seen != nullptr);
    GOOD(aclrtHostRegisterV2(page[1], 4096));
    char *also = nullptr;
    GOOD(aclrtHostGetDevicePointer(page[1], &also));
    GOOD(aclrtHostGetDevicePointer(page[1], &plain));
    CHECK(also == plain && also != nullptr);
    GOOD(aclrtHostUnregister(page[0]));
    GOOD(aclrtHostUnregister(page[1]));

    float *base = nullptr;
    size_t bytes = 0;
    GOOD(aclrtMemGetAddressRange(values + 1, &base, &bytes));
    CHECK(base == values && bytes >= SIZE);

    Pixel *reserved = nullptr;
    aclrtPhysicalMemProp property = {};
    property.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    property.memAttr = ACL_HBM_MEM_HUGE;
    aclrtDrvMemHandle physical = nullptr;
    GOOD(aclrtReserveMemAddress(&reserved, PAGE));
    GOOD(aclrtMallocPhysical(&physical, PAGE, &property));
    GOOD(aclrtMapMem(reserved, PAGE, 0, physical));
    GOOD(aclrtUnmapMem(reserved));
    GOOD(aclrtFreePhysical(physical));
    GOOD(aclrtReleaseMemAddress(reserved));
    CHECK(aclrtReserveMemAddressNoUCMemory(&reserved, PAGE) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT); /* on the 910B */

    int *managed = nullptr;
    int32_t mostly = 77;
    GOOD(aclrtMemAllocManaged(&managed, PAGE));
    *managed = 5;
    GOOD(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, PAGE, mostly));
    CHECK(mostly == 0);
    aclrtMemManagedLocation place = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
    GOOD(aclrtMemManagedPrefetchAsync(managed, PAGE, place));
    const int *const ranges[] = {managed};
    const size_t sizes[] = {PAGE};
    size_t first = 0;
    GOOD(aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 1, &place, &first, 1));
    GOOD(aclrtSynchronizeStream());
    GOOD(aclrtFree(managed));

    aclrtMemPoolProps pool_property = {};
    pool_property.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtMemPool pool = nullptr;
    double *pooled = nullptr;
    GOOD(aclrtMemPoolCreate(&pool, &pool_property));
    GOOD(aclrtMemPoolMallocAsync(&pooled, SIZE, pool, stream));
    GOOD(aclrtMemPoolFreeAsync(pooled, stream));
    GOOD(aclrtSynchronizeStream(stream));
    GOOD(aclrtMemPoolDestroy(pool));

    char key[65] = "no such key";
    void *untyped = nullptr;
    CHECK(aclrtIpcMemImportByKey(&base, key) == aclrtIpcMemImportByKey(&untyped, key, 0) && untyped == nullptr);
    CHECK(aclrtIpcMemImportByKey(&base, key) != ACL_SUCCESS && base == values);

    GOOD(aclrtFree(values));
    GOOD(aclrtFree(const_cast<Pixel *>(aligned)));
    GOOD(aclrtFreeHost(host));
    end();
}
"""

BATCH = r"""
int main()
{
    begin();
    float *device[2], *out = nullptr;
    GOOD(aclrtMalloc(&device[0], SIZE));
    GOOD(aclrtMalloc(&device[1], SIZE));
    GOOD(aclrtMallocHost(&out, 4 * SIZE));
    const size_t sizes[] = {8, 4};
    aclrtMemcpyBatchAttr in = {}, back = {};
    in.dstLoc.type = back.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    in.srcLoc.type = back.dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    size_t first = 0, failed = 12345;
    for (int way = 0; way < 4; way++) {
        float values[] = {way + 1.f, way + 2.f, way + 3.f};
        std::memcpy(out + 8, values, sizeof values);
        const float *const sources[] = {out + 8, out + 10};
        float *const targets[] = {out, out + 2};
        if (way == 0) {
            GOOD(aclrtMemcpyBatch(device, sizes, sources, sizes, 2, &in, &first, 1, &failed));
            GOOD(aclrtMemcpyBatch(targets, sizes, device, sizes, 2, &back, &first, 1, &failed));
        } else if (way == 1) {
            GOOD(aclrtMemcpyBatchV2(device, sizes, sources, sizes, 2, &in, &first, 1));
            GOOD(aclrtMemcpyBatchV2(targets, sizes, device, sizes, 2, &back, &first, 1));
        } else if (way == 2) {
            GOOD(aclrtMemcpyBatchAsync(device, sizes, sources, sizes, 2, &in, &first, 1, &failed));
            GOOD(aclrtMemcpyBatchAsync(targets, sizes, device, sizes, 2, &back, &first, 1, &failed));
        } else {
            GOOD(aclrtMemcpyBatchAsyncV2(device, sizes, sources, sizes, 2, &in, &first, 1));
            GOOD(aclrtMemcpyBatchAsyncV2(targets, sizes, device, sizes, 2, &back, &first, 1));
        }
        GOOD(aclrtSynchronizeStream());
        CHECK(std::memcmp(out, values, sizeof values) == 0 && failed == SIZE_MAX);
    }
    end();
}
"""

SYMBOLS = r"""
static unsigned char table[32];
static const char *pointer; /* a variable of a kernel that is a pointer: named by its address, as in C */

int main()
{
    begin();
    aclrtBinHandle binary = nullptr;
    GOOD(aclrtBinaryLoadFromFile("kernels.o", nullptr, &binary));
    GOOD(aclsimRegisterVariable(table, binary, "table"));
    GOOD(aclsimRegisterVariable(&pointer, binary, "pointer"));
    unsigned char *address = nullptr, *same = nullptr, *global = nullptr;
    const void *symbol = table;
    void *untyped = nullptr;
    size_t size = 0;
    GOOD(aclrtGetSymbolAddress(table, &address));
    GOOD(aclrtGetSymbolAddress(symbol, &same));
    GOOD(aclrtGetSymbolAddress(symbol, &untyped));
    GOOD(aclrtBinaryGetGlobal(binary, "table", &global, &size));
    CHECK(address != nullptr && address == same && address == untyped && address == global && size == 32);
    GOOD(aclrtGetSymbolAddress(&pointer, &same));
    CHECK(same != address);
    size = 0;
    GOOD(aclrtGetSymbolSize(table, &size));
    CHECK(size == 32);
    GOOD(aclrtGetSymbolSize(&pointer, &size));
    CHECK(size == 8);
    CHECK(aclrtGetSymbolSize(NULL, &size) == aclrtGetSymbolSize(nullptr, &size));
    CHECK(aclrtGetSymbolSize(nullptr, &size) != ACL_SUCCESS);
    int unknown = 0;
    CHECK(aclrtGetSymbolSize(unknown, &size) != ACL_SUCCESS);

    unsigned char out[33] = {0}, given[4] = {40, 41, 42, 43};
    GOOD(aclrtMemcpyFromSymbol(out, 32, table, 32));
    CHECK(out[0] == 1 && out[31] == 32 && out[32] == 0);
    GOOD(aclrtMemcpyToSymbol(table, given, 4));
    GOOD(aclrtMemcpyToSymbolAsync(table, given, 4, 4));
    GOOD(aclrtMemcpyToSymbol(symbol, given + 1, 1, 8));
    GOOD(aclrtMemcpyToSymbolAsync(symbol, given + 2, 1, 9));
    GOOD(aclrtSynchronizeStream());
    GOOD(aclrtMemcpyFromSymbolAsync(out, 32, table, 32));
    GOOD(aclrtSynchronizeStream());
    CHECK(std::memcmp(out, "\50\51\52\53\50\51\52\53\51\52\13", 11) == 0);
    GOOD(aclrtMemcpyFromSymbol(out, 32, symbol, 2, 8));
    GOOD(aclrtMemcpyFromSymbolAsync(out + 2, 30, symbol, 2, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    GOOD(aclrtSynchronizeStream(stream));
    CHECK(std::memcmp(out, "\51\52\51\52", 4) == 0);
    GOOD(aclrtBinaryUnLoad(binary));
    end();
}
"""

WORK = r"""
static int calls;
static void count(void *) { calls++; }
static uint32_t seen;
static aclError run(const aclsimKernelLaunch *launch)
{
    seen += launch->numBlocks; /* once per block */
    return ACL_SUCCESS;
}
static const aclsimCustomKernel implementation = {run, nullptr, nullptr, 0, nullptr};

int main()
{
    begin();
    aclrtStream quick = nullptr, other = nullptr;
    aclrtEvent timed = nullptr;
    uint32_t flags = 0, priority = 9;
    GOOD(aclrtCreateStream(&quick, 3, ACL_STREAM_FAST_LAUNCH));
    GOOD(aclrtCreateStream(&other, 0));
    GOOD(aclrtStreamGetFlags(quick, &flags));
    GOOD(aclrtStreamGetPriority(quick, &priority));
    CHECK(flags == ACL_STREAM_FAST_LAUNCH && priority == 3);
    GOOD(aclrtCreateEvent(&timed, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC));
    GOOD(aclrtLaunchHostFunc(quick, count));
    GOOD(aclrtRecordEvent(timed, quick));
    GOOD(aclrtStreamWaitEvent(other, timed, 10));
    GOOD(aclrtStreamWaitEvent(other, timed));
    GOOD(aclrtSynchronizeEvent(timed, 10000));
    GOOD(aclrtSynchronizeStream(other, 10000));
    GOOD(aclrtSynchronizeDevice(10000));
    GOOD(aclrtSynchronizeDevice());
    CHECK(calls == 1);
    GOOD(aclsimStreamHold(quick));
    GOOD(aclrtLaunchHostFunc(quick, count, nullptr));
    GOOD(aclrtRecordEvent(timed, quick));
    CHECK(aclrtSynchronizeStream(quick, 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    CHECK(aclrtSynchronizeEvent(timed, 1) == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    GOOD(aclsimStreamRelease(quick));
    GOOD(aclrtSynchronizeStream(quick));
    GOOD(aclrtRecordEvent(event));
    GOOD(aclrtSynchronizeEvent(event));
    uint64_t actual = 0;
    GOOD(aclrtSetOpExecuteTimeOut(1000000, &actual));
    CHECK(actual > 0);
    GOOD(aclrtSetOpExecuteTimeOut(10));

    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    aclrtArgsHandle arguments = nullptr;
    aclrtParamHandle holder = nullptr;
    char *data = nullptr, *buffer = nullptr;
    GOOD(aclrtMalloc(&data, SIZE));
    GOOD(aclrtBinaryLoadFromFile("kernels.o", nullptr, &binary));
    GOOD(aclsimRegisterCustomKernel("kernels.o", "kernel", &implementation));
    GOOD(aclrtBinaryGetFunction(binary, "kernel", &function));
    GOOD(aclrtKernelArgsInit(function, &arguments));
    GOOD(aclrtKernelArgsAppendPlaceHolder(arguments, &holder));
    GOOD(aclrtKernelArgsGetPlaceHolderBuffer(arguments, holder, 8, &buffer));
    CHECK(buffer != nullptr);
    std::memset(buffer, 1, 8);
    GOOD(aclrtLaunchKernel(function, 1, data, SIZE));
    GOOD(aclrtLaunchKernelV2(function, 2, data, SIZE));
    GOOD(aclrtSynchronizeStream());
    CHECK(seen == 1 + 4);
    GOOD(aclrtFree(data));
    GOOD(aclrtDestroyEvent(timed));
    GOOD(aclrtDestroyStream(quick));
    GOOD(aclrtDestroyStream(other));
    end();
}
"""

PROGRAMS = {"memory": MEMORY, "batch": BATCH, "symbols": SYMBOLS, "work": WORK}
COMPILERS = ["g++ -std=c++11", "g++ -std=c++20", "clang++ -std=c++14", "clang++ -std=c++17"]


def build(directory, text, line):
    """Compile with all warnings as errors, and with optimisation, because some warnings need it."""
    compiler, standard = line.split()
    flags = standard, "-O2", "-Wpedantic", "-Wredundant-decls", "-Werror"
    return programs.Compiler(directory, compiler)(text, *flags, cxx=True)


@pytest.mark.needs_sim
@pytest.mark.parametrize("line", COMPILERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_overloads_forward(tmp_path, name, line):
    (tmp_path / "kernels.o").write_bytes(BINARY)
    done = programs.run([build(tmp_path, START + PROGRAMS[name], line)], cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_every_overload_is_called_above():
    offered = set(re.findall(r"\b(aclrt[A-Z]\w+)\(", HEADER.read_text()))
    called = set(re.findall(r"\b(aclrt[A-Z]\w+)\(", "".join(PROGRAMS.values())))
    forwarded = {"aclrtCreateStreamWithConfig", "aclrtCreateEventWithFlag", "aclrtSetOpExecuteTimeOutV2"}
    timed = {name for name in offered if name.endswith("WithTimeout")}
    assert offered - called == forwarded | timed


# As a C program writes them, all arguments given, with the casts that C++ needs.
AS_IN_C = r"""
#include <acl/acl.h>
EXTRA
static int table;
int main(void)
{
    void *memory = NULL, *host = NULL;
    float *values = NULL;
    size_t size = 0;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    int ret = aclInit(NULL) | aclrtSetDevice(0) | aclrtCreateStream(&stream) | aclrtCreateEvent(&event);
    ret |= aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) | aclrtMallocHost(&host, 64);
    ret |= aclrtMalloc((void **)&values, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
    ret |= aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, NULL);
    ret |= aclrtMemcpyAsync(values, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    ret |= aclrtMemsetAsync(memory, 64, 0, 64, 0) | aclrtRecordEvent(event, stream);
    ret |= aclrtStreamWaitEvent(NULL, event) | aclrtSynchronizeEvent(event);
    ret |= aclrtSynchronizeStream(0) | aclrtSynchronizeStream(stream) | aclrtSynchronizeDevice();
    if (aclrtGetSymbolSize(&table, &size) == ACL_SUCCESS || aclrtGetSymbolAddress(&table, &memory) == ACL_SUCCESS ||
        aclrtMemcpyToSymbol(&table, host, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS ||
        aclrtGetSymbolAddress(0, &memory) == ACL_SUCCESS || aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0)
        return 1;
    return ret | aclrtFree(memory) | aclrtFree(values) | aclrtFreeHost(host) | aclFinalize();
}
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize("line", COMPILERS)
def test_programs_written_as_in_c(tmp_path, line):
    used = []
    for extra in ("", "#include <acl/acl_rt_api.h>"):
        program = build(tmp_path, AS_IN_C.replace("EXTRA", extra), line)
        assert programs.run([program], cwd=tmp_path).returncode == 0
        content = Path(program).read_bytes()
        used.append(set(re.findall(rb"\baclrt\w+", content)))
    assert used[0] == used[1] != set(), "the same C functions"


def test_the_header_is_empty_for_c(tmp_path):
    text = "#include <acl/acl_rt_api.h>\nint main(void) { return ACL_MEM_MALLOC_HUGE_FIRST; }\n"
    assert programs.run([programs.Compiler(tmp_path)(text, "-std=c99", "-Wpedantic", "-Werror")]).returncode == 0
