/* Which checkers there are, and their life cycle. The units of the checkers refer to check.c; only this one refers to
 * them.
 *
 * There is no state and no lock: devices open and close under the lifecycle lock. */
#include "check.h"
#include "check_deadlock.h"
#include "check_init.h"
#include "check_sync.h"

#define SIM_WATCHDOG (1u << 31) /* the setting "watchdog", beside the checks */

/* The checkers, and the settings that switch them on. All of them need what is known of memory. */
static const struct {
    uint32_t ch_checks;
    const struct sim_watcher *ch_watcher;
} checkers[] = {
    {UINT32_MAX, &sim_check_blocks},
    {SIM_CHECK_MEMORY, &sim_check_memory},
    {SIM_CHECK_LEAK, &sim_check_leaks},
    {SIM_CHECK_INIT, &sim_check_init},
    {SIM_CHECK_SYNC, &sim_check_sync},
    {SIM_CHECK_RACE, &sim_check_race},
    {SIM_CHECK_DEADLOCK | SIM_WATCHDOG, &sim_check_deadlock},
};

static void switch_all(uint32_t checks)
{
    sim_check_wants_lines = checks != 0 || sim_config()->cf_trace;
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++)
        sim_watcher_set(checkers[i].ch_watcher, (checks & checkers[i].ch_checks) != 0);
    sim_check_race_switch((checks & SIM_CHECK_RACE) != 0);
}

int sim_check_open(void)
{
    const struct sim_config *config = sim_config();
    sim_check_init_open();
    sim_check_deadlock_open();
    switch_all(config->cf_checks | (config->cf_watchdog != 0 ? SIM_WATCHDOG : 0));
    sim_watcher_set(&sim_check_poison, config->cf_poison ||
                                           (config->cf_checks & (SIM_CHECK_MEMORY | SIM_CHECK_INIT)) != 0);
    return 0;
}

void sim_check_reset(void)
{
    switch_all(0);
    sim_watcher_set(&sim_check_poison, false);
    sim_check_memory_reset();
    sim_check_leak_reset();
    sim_check_block_reset();
    sim_check_init_reset();
    sim_check_sync_reset();
    sim_check_race_reset();
    sim_check_deadlock_reset();
    sim_check_findings_reset();
}

void sim_check_after_fork(void)
{
    sim_check_findings_after_fork();
    sim_check_block_after_fork();
    sim_check_leak_after_fork();
    sim_check_memory_after_fork();
    sim_check_init_after_fork();
    sim_check_sync_after_fork();
    sim_check_race_after_fork();
    sim_check_deadlock_after_fork();
}
