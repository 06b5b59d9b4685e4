/* The limits of the machine as rows of a program. */
#include "machine.h"
#include "buffers.h"

static void nothing(void)
{
}

static double sample_clock(void)
{
    return twin_clock_read(100000);
}

static double sample_exchange(void)
{
    return twin_exchange(100000);
}

static double sample_mutex(void)
{
    return twin_mutex(100000);
}

static double sample_futex_wake(void)
{
    return twin_futex_wake(20000);
}

/* Microseconds. */
static double sample_futex_round(void)
{
    return twin_futex_round(200) / 1e3;
}

/* Milliseconds of 64 MiB. */
static double sample_host_copy(void)
{
    return twin_host_copy(1, target, source, LARGE) / 1e6;
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {
        {"clock", nothing, sample_clock},
        {"exchange", nothing, sample_exchange},
        {"mutex", nothing, sample_mutex},
        {"futex_wake", nothing, sample_futex_wake},
        {"futex_round", nothing, sample_futex_round},
        {"host_copy", make_buffers, sample_host_copy},
    };
    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows, nothing);
}
