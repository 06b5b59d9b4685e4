/* Poison: new memory of devices and new pinned memory is filled with a pattern, so that a program which reads it before
 * it has written it gets results that are plainly wrong.
 *
 * The pattern is the 16-bit word 0x7FFF, the bytes FF 7F. It is NaN as float16, bfloat16, float32, float64 and both
 * types of float8, and a large integer of any width above 8 bits. The NaNs are quiet ones: no word is a signalling NaN
 * as float16 and NaN as bfloat16 too, because a bfloat16 NaN has the quiet bit of float16 in its exponent.
 *
 * Only blocks fresh from a heap are filled: memory of other processes and of the program itself has contents, and a
 * block that a pool uses again may still be used by queued work. Of larger blocks, the first FILLED bytes are filled,
 * so that a program may still allocate more memory than the machine has. There is no state and no lock. */
#include "address/memory.h"
#include "check.h"

#define PATTERN UINT64_C(0x7fff7fff7fff7fff)
#define FILLED (UINT64_C(1) << 30)

static void fill(const struct sim_block *block, const void *site)
{
    (void)site;
    if (block->bk_record == NULL || block->bk_page == SIM_PAGE_IMPORTED)
        return;
    uint64_t *to = sim_memory_reach((const void *)(uintptr_t)block->bk_start);
    uint64_t size = block->bk_size < FILLED ? block->bk_size : FILLED;
    for (uint64_t i = 0; i < size / sizeof *to; i++) /* sizes are multiples of 32 */
        to[i] = PATTERN;
}

const struct sim_watcher sim_check_poison = {.wt_allocate = fill};
