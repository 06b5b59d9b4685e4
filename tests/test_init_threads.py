"""The library's own threads: finalisation ends those that have nothing to do, and what needs them starts them again."""

import threading
import time
from pathlib import Path

import pytest
from helpers.expect import RunningTask, Task, refused
from helpers.programs import run

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

rt = acl.rt
TASK_WORKER = 4


def threads():
    return {int(path.name) for path in Path("/proc/self/task").iterdir()}


def gone(others):
    """Wait until none of these threads is left: the kernel lists a joined one for a moment more."""
    deadline = time.monotonic() + 30
    while others & threads():
        assert time.monotonic() < deadline, [Path(f"/proc/self/task/{t}/comm").read_text() for t in others & threads()]


@pytest.fixture
def fresh():
    """Start from a library that was never initialised; the threads of the process."""
    acl.sim.reset()
    yield threads()
    acl.sim.reset()


PLUGIN = r"""
#include "acl/acl.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OK(call) do { int code = (call); if (code != 0) { printf("%s: %d\n", #call, code); exit(1); } } while (0)

static void count(void *calls)
{
    ++*(int *)calls;
}

static void report(aclrtExceptionInfo *info)
{
    (void)info;
}

int work(int leaves_device)
{
    enum { STREAMS = 4, SIZE = 2 << 20 };
    aclrtStream streams[STREAMS];
    aclrtEvent event;
    void *memory;
    char key[65];
    int calls = 0;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtSetExceptionInfoCallback(report));
    OK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtIpcMemGetExportKey(memory, SIZE, key, sizeof key, 0));
    OK(aclrtCreateEvent(&event));
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtCreateStream(&streams[i]));
        if (i != 0)
            OK(aclrtStreamWaitEvent(streams[i], event));
        OK(aclrtMemsetAsync(memory, SIZE, i, SIZE, streams[i]));
        OK(aclrtLaunchHostFunc(streams[i], count, &calls));
        OK(aclrtRecordEvent(event, streams[i]));
    }
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtSynchronizeStream(streams[i]));
        OK(aclrtDestroyStream(streams[i]));
    }
    OK(aclrtDestroyEvent(event));
    OK(aclrtIpcMemClose(key));
    OK(aclrtFree(memory));
    if (!leaves_device)
        OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return calls;
}
"""
HOST = r"""
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t first;
    if (pthread_create(&first, NULL, nothing, NULL) != 0 || pthread_join(first, NULL) != 0)
        return 1;
    int before = threads(); /* with the one that a sanitizer starts beside the first thread of a program */
    for (int round = 0; argc == 3 && round < 20; round++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL)
            return puts(dlerror()), 1;
        int (*work)(int);
        *(void **)&work = dlsym(plugin, "work");
        int calls = work(atoi(argv[2]));
        dlclose(plugin);
        if (calls != 4 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL)
            return printf("round %d: %d calls\n", round, calls), 1;
        while (threads() != before) /* the kernel lists a joined thread for a moment more */
            sched_yield();
    }
    puts("unloaded");
    return 0;
}
"""


@pytest.mark.parametrize("leaves_device", [0, 1])
def test_a_host_unloads_a_plugin_again_and_again(compile_c, leaves_device):
    plugin = compile_c(PLUGIN, "-shared", "-fPIC")
    host = compile_c(HOST, libraries=("dl",))
    done = run([host, plugin, str(leaves_device)], timeout=50)
    assert (done.stdout, done.returncode) == ("unloaded\n", 0), done.stderr


@pytest.mark.finds("leaked-object")
def test_finalize_ends_the_threads_and_work_starts_them_again(fresh, device):
    stream, _ = rt.create_stream()
    for _ in range(3):
        assert acl.init() == 0
        called, ran = [], threading.Event()
        assert rt.launch_host_func(stream, called.append, 1) == 0
        task = Task(stream, ran.set, TASK_WORKER)  # nobody synchronises: a worker has to take it
        assert ran.wait(30)
        assert rt.synchronize_stream(stream) == 0
        assert called == [1]
        assert acl.finalize() == 0
        gone(threads() - fresh)
        del task
    assert rt.destroy_stream(stream) == 0


def test_the_thread_of_exceptions_ends_and_comes_back(fresh, device):
    reports = []
    assert rt.set_exception_info_callback(lambda info: reports.append(rt.get_error_code_from_exception_info(info))) == 0
    for number in range(1, 4):
        stream, _ = rt.create_stream()
        task = Task(stream, lambda: 507015)
        assert rt.synchronize_stream(stream) == 507015
        assert rt.destroy_stream(stream) == 0
        assert acl.init() == 0
        assert acl.finalize() == 0
        assert len(reports) == number
        gone(threads() - fresh)
        del task
    assert rt.set_exception_info_callback(None) == 0


@pytest.mark.finds("leaked-object")
def test_finalize_inside_a_host_function(fresh, stream):
    codes = []
    for count in (1, 2, 3):
        assert acl.init() == 0
        assert rt.launch_host_func(stream, lambda _: codes.append(acl.finalize()), None) == 0
        assert rt.synchronize_stream(stream) == 0
        assert codes == [0] * count


@pytest.mark.finds("leaked-object", count=2)
def test_finalize_does_not_wait_for_tasks_and_host_functions(fresh, stream):
    other, _ = rt.create_stream()
    running, begun, end = RunningTask(stream), threading.Event(), threading.Event()
    assert rt.launch_host_func(other, lambda _: (begun.set(), end.wait()), None) == 0
    helper = threading.Thread(target=lambda: (rt.set_device(0), rt.synchronize_stream(other)))
    helper.start()
    assert begun.wait(30)
    assert acl.init() == 0
    assert acl.finalize() == 0
    end.set()
    running.finish(507015)
    assert rt.synchronize_stream(other) == 0
    refused(rt.synchronize_stream(stream), 507015, "task")
    helper.join()
    assert rt.destroy_stream(other) == 0


@pytest.mark.finds("leaked-object")
def test_finalize_inside_a_task(fresh, stream):
    codes = []
    assert acl.init() == 0
    ran = threading.Event()
    task = Task(stream, lambda: (codes.append(lib.aclFinalize()), ran.set()) and 0, TASK_WORKER)
    assert ran.wait(30)
    assert rt.synchronize_stream(stream) == 0
    assert codes == [0]
    del task


@pytest.mark.finds("leaked-object")
def test_finalize_from_many_threads_beside_work(fresh, stream):
    """Whoever ends the threads, starts them and needs them, nothing is lost and nobody waits for ever."""
    stop, codes = threading.Event(), set()

    def finalize():
        while not stop.is_set():
            codes.add(lib.aclInit(ffi.NULL))
            codes.add(lib.aclFinalize())

    others = [threading.Thread(target=finalize) for _ in range(3)]
    for other in others:
        other.start()
    called = []
    for number in range(100):
        ran = threading.Event()
        assert rt.launch_host_func(stream, called.append, number) == 0
        task = Task(stream, ran.set, TASK_WORKER)
        assert ran.wait(30), number
        del task
    stop.set()
    for other in others:
        other.join()
    assert rt.synchronize_stream(stream) == 0
    assert called == list(range(100))
    assert codes <= {0, 100002, 100037}
