/* What the fuzzed readers share: a file of any bytes without a disk, and a check that stops the run. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENSURE(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                                   \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file with these bytes, good until the next call. */
static inline const char *file_of(const uint8_t *data, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("input", MFD_CLOEXEC);
        ENSURE(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    ENSURE(ftruncate(file, 0) == 0 && (size == 0 || pwrite(file, data, size, 0) == (ssize_t)size));
    return path;
}

#endif
