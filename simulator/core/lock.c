#include "lock.h"

void sim_lock_slow(struct sim_lock *lock)
{
    while (atomic_exchange_explicit(&lock->lk_word, 2, memory_order_acquire) != 0)
        sim_futex_wait(&lock->lk_word, 2, SIM_FOREVER);
}
