/* Bytes of files in memory, taken from the front, products of sizes, and names that stand for paths. */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include "fail.h"

struct sim_bytes {
    const unsigned char *by_data;
    uint64_t by_size;
};

/* Every product of sizes that a file or a program gives: *product times `factor`. False when 64 bits cannot hold it, with
 * *product as it was. */
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

/* Bytes, and little-endian numbers of at most 8 bytes. False, and the number 0: fewer are left. */
bool sim_bytes_take(struct sim_bytes *bytes, uint64_t size, struct sim_bytes *taken);
bool sim_bytes_number(struct sim_bytes *bytes, uint64_t size, uint64_t *value);
bool sim_bytes_u32(struct sim_bytes *bytes, uint32_t *value);
bool sim_bytes_u64(struct sim_bytes *bytes, uint64_t *value);

/* What is returned for a file that cannot be read, one that is empty (ACL_SUCCESS: it may be), and one that there is no
 * memory for; how many bytes it may have (0: any number). */
struct sim_read_codes {
    aclError rc_unreadable, rc_empty, rc_memory;
    uint64_t rc_most;
};

/* A whole regular file, malloc'ed, with a NUL behind it; `name` names the argument that the path came with. */
aclError sim_bytes_read(const char *path, const char *name, const struct sim_read_codes *codes, struct sim_bytes *bytes);

/* Whether a name stands for the path: it is the path, its last part, or that without its ending. */
bool sim_bytes_path_is_named(const char *path, const char *name);

#endif
