/* Locking a process for a snapshot: time-outs, locks inside tasks, forks and resets. */
#include "engine/snapshot.h"
#include "base/runtime.h"
#include "engine.h"
#include <sys/wait.h>

static void test_work_that_does_not_end(void)
{
    aclrtStream stream;
    void *block;
    open_device("parallel");
    CHECK_CODE(aclrtCreateStream(&stream), 0);
    CHECK_CODE(aclsimStreamHold(stream), 0);
    CHECK_CODE(sim_snapshot_lock(1), ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT);
    CHECK_TEXT("was not done after 1 ms");
    CHECK_CODE(aclrtMalloc(&block, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0); /* nothing is locked */
    CHECK_CODE(sim_snapshot_unlock(), ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
    CHECK_CODE(aclsimStreamRelease(stream), 0);
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    CHECK_CODE(sim_snapshot_unlock(), 0);
}

static aclError code_of_lock;

static aclError lock_inside(void *unused)
{
    (void)unused;
    code_of_lock = sim_snapshot_lock(-1);
    return ACL_SUCCESS;
}

static void test_a_lock_inside_a_task_is_refused(void)
{
    open_device("parallel");
    CHECK_CODE(aclsimLaunchTask(NULL, lock_inside, NULL, NULL, 0, 0), 0);
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    CHECK_CODE(code_of_lock, ACL_ERROR_RT_INTERNAL_ERROR);
}

static void test_children_are_not_locked(void)
{
    open_device("parallel");
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK_CODE(sim_snapshot_unlock(), ACL_ERROR_SNAPSHOT_UNLOCK_FAILED);
        CHECK_CODE(sim_runtime_pass(), 0);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_CODE(sim_snapshot_unlock(), 0);
}

static void test_a_reset_lets_go(void)
{
    open_device("parallel");
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK_CODE(sim_snapshot_lock(-1), 0);
    CHECK_CODE(sim_snapshot_unlock(), 0);
}

int main(void)
{
    watch_dog(120);
    test_work_that_does_not_end();
    test_a_lock_inside_a_task_is_refused();
    test_children_are_not_locked();
    test_a_reset_lets_go();
    CHECK_CODE(aclsimReset(), 0);
    return 0;
}
