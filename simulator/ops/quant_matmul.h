/* Products of integer matrices that are scaled to floats, which several versions of QuantMatmul share. */
#ifndef OPS_QUANT_MATMUL_H
#define OPS_QUANT_MATMUL_H

#include "packed.h"

/* Where the arguments of a version are, behind x1 and x2; 0: there is none. The last argument is the result. */
struct sim_quant_matmul {
    struct sim_lists_kind qm_kind; /* first, because sim_lists_run reads it */
    uint64_t qm_types;             /* of the factors */
    uint8_t qm_scale, qm_offset, qm_rows, qm_bias;
    uint8_t qm_turns; /* says whether x1 is transposed; the next argument says the same of x2 */
    uint8_t qm_group; /* the numbers of a group, which must be 0 */
    uint8_t qm_absent[3]; /* tensors that must be absent */
};

aclnnStatus sim_quant_matmul_plan(const aclsimCall *call, uint64_t *workspace_size);
aclError sim_quant_matmul_run(const aclsimCall *call, struct sim_lists *lists);

#endif
