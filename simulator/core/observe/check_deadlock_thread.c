/* Host threads: the list of those that have called the library, until they end; and a look at all others.
 *
 * A thread that has not called, and was started after the device was opened, may be about to call and to end a wait.
 * The threads that were there before, such as those of a library for linear algebra, may stay as they are; they count
 * as soon as they call.
 *
 * The lock of check_deadlock.c guards everything here, except `life`, which is also read without it. */
#include "check_deadlock.h"
#include "engine/context.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYSTANDERS 1024
#define EXITING 0x4u /* the kernel's flag of a thread that ends, and may have been joined already */

struct sim_deadlock_host *sim_check_deadlock_hosts;
static _Atomic uint32_t life = 1;       /* counts resets, so that threads are noted anew */
static _Thread_local uint32_t known_in; /* the life in which this thread was noted; 0: none */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static uint32_t bystanders[BYSTANDERS];
static size_t count;

/* ---- those that have called ---- */

bool sim_check_deadlock_thread_is_known(void)
{
    return known_in == atomic_load_explicit(&life, memory_order_relaxed);
}

static struct sim_deadlock_host **own_link(void)
{
    struct sim_deadlock_host **link = &sim_check_deadlock_hosts;
    while (*link != NULL && (*link)->dh_wait.dw_thread != sim_thread_number())
        link = &(*link)->dh_next;
    return link;
}

struct sim_deadlock_host *sim_check_deadlock_thread_find(void)
{
    return *own_link();
}

static void thread_ended(void *unused)
{
    (void)unused;
    sim_check_deadlock_thread_ended();
}

static void make_key(void)
{
    (void)pthread_key_create(&key, thread_ended);
}

struct sim_deadlock_host *sim_check_deadlock_thread_enter(void)
{
    struct sim_deadlock_host **link = own_link(), *host = *link;
    if (host != NULL || (host = *link = calloc(1, sizeof *host)) == NULL)
        return host;
    host->dh_self = pthread_self();
    host->dh_wait.dw_thread = sim_thread_number();
    known_in = atomic_load_explicit(&life, memory_order_relaxed);
    (void)pthread_once(&once, make_key);
    (void)pthread_setspecific(key, &life); /* any value that is not NULL */
    return host;
}

void sim_check_deadlock_thread_forget(void)
{
    struct sim_deadlock_host **link = own_link(), *host = *link;
    known_in = 0;
    if (host != NULL)
        *link = host->dh_next;
    free(host);
}

void sim_check_deadlock_thread_forget_all(void)
{
    sim_check_deadlock_hosts = NULL;
    atomic_fetch_add_explicit(&life, 1, memory_order_relaxed);
}

/* ---- ours, which call functions of the program ---- */

bool sim_check_deadlock_thread_calls(void)
{
    const struct sim_deadlock_host *host = sim_check_deadlock_hosts;
    while (host != NULL && !host->dh_calls)
        host = host->dh_next;
    return host != NULL;
}

bool sim_check_deadlock_thread_will_call(void)
{
    uint32_t count = atomic_load_explicit(&sim_contexts.tb_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        struct sim_context *context = sim_table_at(&sim_contexts, i);
        struct sim_caller *caller = atomic_load_explicit(&context->cx_host_caller, memory_order_acquire);
        if (caller == NULL || sim_gate_level(&caller->cl_queued) <= sim_gate_level(&caller->cl_made))
            continue;
        const struct sim_deadlock_host *host = sim_check_deadlock_hosts;
        while (host != NULL && host->dh_caller != caller)
            host = host->dh_next;
        if (host == NULL)
            return true;
    }
    return false;
}

/* ---- all others ---- */

/* Calls `visit` for each thread, until it returns true, which is the result. */
static bool any_thread(bool (*visit)(uint32_t thread))
{
    DIR *tasks = opendir("/proc/self/task");
    bool found = false;
    for (const struct dirent *entry; !found && tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        uint32_t thread = (uint32_t)strtoul(entry->d_name, NULL, 10);
        found = thread != 0 && visit(thread);
    }
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

static bool note(uint32_t thread)
{
    if (count < BYSTANDERS)
        bystanders[count++] = thread;
    return false;
}

void sim_check_deadlock_thread_note(void)
{
    count = 0;
    any_thread(note);
}

/* Ours have a name that begins with "acl-". */
static bool is_ours_or_ends(uint32_t thread)
{
    char path[64], line[512];
    unsigned flags = EXITING;
    snprintf(path, sizeof path, "/proc/self/task/%u/stat", thread);
    FILE *file = fopen(path, "re");
    const char *name = file != NULL && fgets(line, sizeof line, file) != NULL ? strchr(line, '(') : NULL;
    const char *end = name != NULL ? strrchr(name, ')') : NULL;
    if (file != NULL)
        fclose(file);
    if (end == NULL || strncmp(name, "(acl-", strlen("(acl-")) == 0)
        return true;
    return sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || (flags & EXITING) != 0;
}

static bool is_unknown(uint32_t thread)
{
    for (const struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next)
        if (host->dh_wait.dw_thread == thread)
            return false;
    for (size_t i = 0; i < count; i++)
        if (bystanders[i] == thread)
            return false;
    return thread != sim_thread_number() && !is_ours_or_ends(thread);
}

bool sim_check_deadlock_thread_unknown(void)
{
    return any_thread(is_unknown);
}
