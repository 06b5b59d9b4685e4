/* Zeroes large static tables. */
#ifndef SIM_ZERO_H
#define SIM_ZERO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Zeroes a static table without an initializer. Its whole pages go back to the kernel, which supplies zeros at the next
 * access: to write them would copy every page in the child of a fork, also for tables that are never used. The pages
 * are anonymous, since the one that .bss shares with the file's data is not a whole page of any table. */
static inline void sim_zero(void *table, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)table, end = begin + size;
    uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED) != 0) {
        memset(table, 0, size);
        return;
    }
    memset(table, 0, first - begin);
    memset((void *)last, 0, end - last);
}

#endif
