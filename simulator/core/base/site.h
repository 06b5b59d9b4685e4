/* Sites: where in a program a call came from. A site is the return address of a public call. While watchers are on, it
 * may also be the number of an entry of a table, which has the line of the program's own language, too. Both fit into
 * one pointer, so that whatever keeps a site keeps either. */
#ifndef SIM_SITE_H
#define SIM_SITE_H

#include "thread_state.h"
#include <stdbool.h>

/* The site of the call in progress: `address` with the thread's line, or `address` if the thread has none. */
void *sim_site_with_line(const void *address);

/* The same for a call whose return address the caller does not have: the line alone if the thread has one, else the
 * first caller outside this library. */
void *sim_site_of_call(void);

/* The line of the program that belongs to a site, such as "train.py:12 in step", or NULL. */
const char *sim_site_line(const void *site);
/* The address of a site. */
const void *sim_site_address(const void *site);

/* Writes a site for a person: its line, else the function and offset of its address, else the address. Returns
 * `text`. */
#define SIM_SITE_TEXT 256
const char *sim_site_print(const void *site, char text[SIM_SITE_TEXT]);

void sim_site_after_fork(void);

#endif
