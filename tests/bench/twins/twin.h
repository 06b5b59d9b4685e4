/* What the twin programs share: the clock, checked calls, and the loop that prints one JSON line a sample. */
#ifndef TWIN_H
#define TWIN_H

#include <acl/acl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK(call) twin_check((call), #call)

static inline void twin_check(aclError code, const char *call)
{
    if (code == ACL_SUCCESS)
        return;
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s returned %d: %s\n", call, code, message != NULL ? message : "no message");
    exit(1);
}

static inline uint64_t twin_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline uint64_t twin_now(void)
{
    return twin_clock(CLOCK_MONOTONIC);
}

/* Nanoseconds of each of `count` passes since `start`. */
static inline double twin_each(uint64_t start, double count)
{
    return (double)(twin_now() - start) / count;
}

/* A row of the table: what must be alive before, and one sample in the row's unit. */
struct twin_row {
    const char *rw_name;
    void (*rw_prepare)(void);
    double (*rw_sample)(void);
};

/* ROW SAMPLES: prints that many samples of the row. The process ends with everything still alive. */
static inline int twin_main(int argc, char **argv, const struct twin_row *rows, size_t count)
{
    for (size_t i = 0; argc == 3 && i < count; i++) {
        if (strcmp(argv[1], rows[i].rw_name) != 0)
            continue;
        OK(aclInit(NULL));
        OK(aclrtSetDevice(0));
        rows[i].rw_prepare();
        for (int left = atoi(argv[2]); left > 0; left--) {
            printf("{\"row\": \"%s\", \"value\": %.3f}\n", argv[1], rows[i].rw_sample());
            fflush(stdout);
        }
        return 0;
    }
    fprintf(stderr, "usage: %s ROW SAMPLES, where ROW is one of:", argv[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %s", rows[i].rw_name);
    fprintf(stderr, "\n");
    return 2;
}

#endif
