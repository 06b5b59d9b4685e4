/* Checkers: what they find, and how it is reported. Each checker is a watcher of its own (check_memory.c, ...), which
 * is on while the setting "check" names it. check_block.c keeps what all of them say about memory. */
#ifndef SIM_CHECK_OF_PROGRAMS_H
#define SIM_CHECK_OF_PROGRAMS_H

#include "address/heap.h"
#include "base/config.h"
#include "base/site.h"
#include "base/watcher.h"

/* ---- findings (check.c) ---- */

#define SIM_FINDING_NOTES 16
#define SIM_FINDING_TEXT 320

/* A call that has to do with a finding. */
struct sim_note {
    const char *no_label;  /* "write", "read", "allocated", "freed" */
    const void *no_site;   /* NULL: unknown, or not a call */
    uint32_t no_thread;    /* its kernel thread id; 0: unknown */
    char no_text[SIM_FINDING_TEXT]; /* "aclrtMemsetAsync, task 3 of stream 2" */
};

struct sim_finding {
    enum sim_check fi_check;
    const char *fi_rule;   /* its name in suppressions and SARIF, such as "use-after-free" */
    const char *fi_advice; /* a sentence; valid until the finding has been reported */
    bool fi_is_warning;    /* the program may be right */
    uint64_t fi_key; /* distinguishes findings of one rule and place */
    char fi_text[SIM_FINDING_TEXT]; /* what is wrong, as a sentence without a full stop */
    uint32_t fi_note_count;
    struct sim_note fi_notes[SIM_FINDING_NOTES];
};

/* Begin a finding, and add a note. Further notes than SIM_FINDING_NOTES are dropped. */
void sim_check_begin(struct sim_finding *finding, enum sim_check check, const char *rule, const char *advice,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
void sim_check_note(struct sim_finding *finding, const char *label, const void *site, uint32_t thread,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Reports a finding, unless it is suppressed or one with the same rule and the same places was reported before. May be
 * called with locks of a checker, a heap or a stream held. With on_finding=abort it does not return. */
void sim_check_report(const struct sim_finding *finding);

/* Reports a code that the program never looked at. The line of the call must stay valid for ever. */
void sim_check_ignored(const char *function, int32_t code, const char *line);

/* The findings so far, as JSON objects; the text is valid until sim_check_forget. NULL: there is no such one. */
size_t sim_check_count(void);
const char *sim_check_at(size_t index);
void sim_check_forget(void);

/* Forgets them, and the suppressions, which are read again. */
void sim_check_findings_reset(void);
void sim_check_findings_after_fork(void);

/* Read by libraries that call this one. Written while no device is open, and by sim_check_ignored. */
extern int32_t sim_check_wants_lines;

/* ---- memory in reports (check_block.c) ---- */

/* A block of memory, alive or freed a short time ago. */
struct sim_check_block {
    struct sim_block cb_block;
    bool cb_alive;
    const void *cb_made, *cb_freed; /* sites */
    uint32_t cb_made_by, cb_freed_by; /* kernel thread ids */
    const char *cb_call; /* the public function in which the program allocated it; NULL: a library did */
    bool cb_told;        /* sim_check_block_told */
    char cb_name[64]; /* that the program gave it; "": none */
};

/* Finds a block by its allocation id. */
bool sim_check_block_find(uint32_t birth, struct sim_check_block *found);
/* Names the live block that contains the address. Returns 107000 if there is none. */
aclError sim_check_block_name(const void *address, const char *name);
/* Finds the block freed last that contained the address, unless a newer live block does. */
bool sim_check_block_find_dead(const void *address, struct sim_check_block *found);
/* Lists the live blocks, oldest first, except those whose free is queued; the caller frees the list. A block that ended
 * with its device may still be listed. NULL: there is none, or no memory. */
struct sim_check_block *sim_check_block_list(size_t *count);
/* Marks a block whose leak has been reported. */
void sim_check_block_told(uint32_t birth);
/* Adds notes: what the block is, where it was allocated and, if it is dead, freed. */
void sim_check_block_note(struct sim_finding *finding, uint32_t birth);
extern const struct sim_watcher sim_check_blocks;
void sim_check_block_reset(void);
void sim_check_block_after_fork(void);

/* ---- memory (check_memory.c, check_poison.c) ---- */

extern const struct sim_watcher sim_check_memory, sim_check_poison;
void sim_check_memory_reset(void);
void sim_check_memory_after_fork(void);

/* ---- leaks (check_leak.c) ---- */

extern const struct sim_watcher sim_check_leaks;
void sim_check_leak_device(int32_t device); /* it is about to be reset for the last time */
void sim_check_leak_finalize(void);
void sim_check_leak_reset(void);
void sim_check_leak_after_fork(void);

/* ---- the checkers, each a watcher ---- */

extern const struct sim_watcher sim_check_race;
void sim_check_race_switch(bool on); /* beside the watcher: reports of waits that queue nothing */
void sim_check_race_waited(uint64_t own, uint64_t waited); /* rm_event_waited */
void sim_check_race_reset(void);
void sim_check_race_after_fork(void);

/* ---- life cycle (check_switch.c; entries of simulator.c) ---- */

int sim_check_open(void); /* a device opens: the checkers of the configuration are on */
void sim_check_reset(void);
void sim_check_after_fork(void);

#endif
