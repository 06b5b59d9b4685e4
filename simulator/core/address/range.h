#ifndef SIM_RANGE_H
#define SIM_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of device memory that a task touches. */
struct sim_range {
    const void *rg_address; /* as the user knows it */
    uint64_t rg_size;
    const _Atomic uint64_t *rg_record; /* of the block it lay in at submission; NULL: of registered host memory */
    uint32_t rg_birth;                 /* of that block, which tells when it was freed or reused; 0: ordinary memory */
    bool rg_write;
};

#endif
