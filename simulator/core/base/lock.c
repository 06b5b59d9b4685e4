/* The slow path of the lock, and the process-wide barrier (lock.h explains the protocol). */
#include "lock.h"
#include <linux/membarrier.h>

#define SPINS 64 /* tries before sleeping: about as long as a critical section */

bool sim_lock_has_membarrier;

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

/* Runs before main, and so before any lock is contended. The registration itself is left to the first barrier: in a
 * process with several threads, the kernel waits for all processors (10 ms) before it returns. */
__attribute__((constructor)) static void look_for_membarrier(void)
{
    const long needed = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED;
    long commands = membarrier(MEMBARRIER_CMD_QUERY);
    sim_lock_has_membarrier = commands > 0 && (commands & needed) == needed;
}

/* The barrier fails with EPERM until the process is registered. Any thread may register, also several at once, and the
 * child of a fork inherits the registration. The slow global barrier needs none. */
void sim_lock_barrier(void)
{
    if (!sim_lock_has_membarrier || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return;
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
        membarrier(MEMBARRIER_CMD_GLOBAL);
}

void sim_lock_slow(struct sim_lock *lock)
{
    for (int spin = 0; spin < SPINS; spin++) {
        uint32_t free_word = 0;
        if (atomic_load_explicit(&lock->lk_word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&lock->lk_word, &free_word, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
    }
    atomic_fetch_add_explicit(&lock->lk_sleepers, 1, memory_order_seq_cst);
    sim_lock_barrier();
    while (atomic_exchange_explicit(&lock->lk_word, 1, memory_order_seq_cst) != 0)
        sim_futex_wait(&lock->lk_word, 1, SIM_FOREVER);
    atomic_fetch_sub_explicit(&lock->lk_sleepers, 1, memory_order_relaxed);
}
