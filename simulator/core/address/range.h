#ifndef SIM_RANGE_H
#define SIM_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of device memory that a task touches. */
struct sim_range {
    const void *rg_address; /* the user's address */
    uint64_t rg_size;
    const _Atomic uint64_t *rg_record; /* of the block it lay in at submission; NULL: of registered host memory */
    uint32_t rg_birth;                 /* allocation id of that block at submission; 0: ordinary memory */
    bool rg_write;
};

#endif
