/* Two host buffers of 64 MiB, for rows that copy. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <stdlib.h>
#include <string.h>

#define LARGE (64u << 20)

static char *source, *target;

/* All pages are written to, so that no sample has to wait for them. */
static void make_buffers(void)
{
    source = malloc(LARGE);
    target = malloc(LARGE);
    if (source == NULL || target == NULL)
        exit(1);
    memset(source, 1, LARGE);
    memset(target, 0, LARGE);
}

#endif
