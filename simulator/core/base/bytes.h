/* Reading whole files and taking bytes from their front, products with overflow checks, and names of paths. */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include "fail.h"

struct sim_bytes {
    const unsigned char *by_data;
    uint64_t by_size;
};

/* Multiplies *product by `factor`: use it for all sizes that come from a file or a program. False, and *product
 * unchanged, when the result does not fit 64 bits. */
static inline bool sim_size_multiply(uint64_t *product, uint64_t factor)
{
    uint64_t result;
    bool fits = !__builtin_mul_overflow(*product, factor, &result);
    if (fits)
        *product = result;
    return fits;
}

/* The same for signed numbers, such as dimensions, strides and their spans. */
static inline bool sim_length_multiply(int64_t *product, int64_t factor)
{
    int64_t result;
    bool fits = !__builtin_mul_overflow(*product, factor, &result);
    if (fits)
        *product = result;
    return fits;
}

/* Take bytes, or a little-endian number of at most 8 bytes, from the front. False, with the number 0, when fewer are
 * left. */
bool sim_bytes_take(struct sim_bytes *bytes, uint64_t size, struct sim_bytes *taken);
bool sim_bytes_number(struct sim_bytes *bytes, uint64_t size, uint64_t *value);
bool sim_bytes_u32(struct sim_bytes *bytes, uint32_t *value);
bool sim_bytes_u64(struct sim_bytes *bytes, uint64_t *value);

/* The codes for a file that cannot be read, one that is empty (ACL_SUCCESS: allowed) and one that does not fit the
 * memory, and the most bytes that the file may have (0: no limit). */
struct sim_read_codes {
    aclError rc_unreadable, rc_empty, rc_memory;
    uint64_t rc_most;
};

/* Reads a whole regular file into malloc'ed memory, with a NUL after it. `name` is the argument with the path, for
 * messages. */
aclError sim_bytes_read(const char *path, const char *name, const struct sim_read_codes *codes,
                        struct sim_bytes *bytes);

/* True when `name` is the path, its last part, or its last part without the extension. */
bool sim_bytes_path_is_named(const char *path, const char *name);

#endif
