/* The clock, and the main function that lets a program print one sample of a row for each line that it reads. */
#ifndef TWIN_SAMPLE_H
#define TWIN_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static inline void twin_sleep(uint64_t nanoseconds)
{
    struct timespec time = {0, (long)nanoseconds};
    nanosleep(&time, NULL);
}

/* A row of the table: what must be alive before, and one sample in the row's unit. */
struct twin_row {
    const char *rw_name;
    void (*rw_prepare)(void);
    double (*rw_sample)(void);
};

/* PROGRAM ROW: prints a sample of the row for each line of its input, so that two programs can be measured in turn. The
 * process ends with everything still alive. `start` is called before the row is prepared. */
static inline int twin_main(int argc, char **argv, const struct twin_row *rows, size_t count, void (*start)(void))
{
    for (size_t i = 0; argc == 2 && i < count; i++) {
        if (strcmp(argv[1], rows[i].rw_name) != 0)
            continue;
        start();
        rows[i].rw_prepare();
        for (int read = getchar(); read != EOF; read = getchar()) {
            if (read != '\n')
                continue;
            printf("{\"row\": \"%s\", \"value\": %.3f}\n", argv[1], rows[i].rw_sample());
            fflush(stdout);
        }
        return 0;
    }
    fprintf(stderr, "usage: %s ROW, where ROW is one of:", argv[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %s", rows[i].rw_name);
    fprintf(stderr, "\n");
    return 2;
}

#endif
