/* Bytes of files in memory, taken from the front, and names that stand for paths. */
#ifndef SIM_BYTES_H
#define SIM_BYTES_H

#include "fail.h"

struct sim_bytes {
    const unsigned char *by_data;
    uint64_t by_size;
};

/* Bytes, and little-endian numbers of at most 8 bytes. False, and the number 0: fewer are left. */
bool sim_bytes_take(struct sim_bytes *bytes, uint64_t size, struct sim_bytes *taken);
bool sim_bytes_number(struct sim_bytes *bytes, uint64_t size, uint64_t *value);
bool sim_bytes_u32(struct sim_bytes *bytes, uint32_t *value);
bool sim_bytes_u64(struct sim_bytes *bytes, uint64_t *value);

/* What a file that cannot be read, that is empty, and that there is no memory for is answered with. */
struct sim_read_codes {
    aclError rc_unreadable, rc_empty, rc_memory;
};

/* A whole file, malloc'ed; `name` names the argument that the path came with. */
aclError sim_bytes_read(const char *path, const char *name, const struct sim_read_codes *codes, struct sim_bytes *bytes);

/* Whether a name stands for the path: it is the path, its last part, or that without its ending. */
bool sim_path_is_named(const char *path, const char *name);

#endif
