/* Rank tables: files that say which ranks a communicator has. */
#ifndef SIM_RANK_TABLE_H
#define SIM_RANK_TABLE_H

#include <hccl/hccl.h>

struct sim_rank_table {
    uint32_t rt_count;   /* ranks */
    uint64_t rt_digest;  /* of the file */
};

/* Reads a table of one server, which must have the rank. Returns HCCL_E_OPEN_FILE_FAILURE (EI0004) if it cannot be
 * read, HCCL_E_PARA (EI0014) if it is wrong, and HCCL_E_NOT_SUPPORT for several servers and other forms. */
HcclResult sim_rank_table_read(const char *path, uint32_t rank, struct sim_rank_table *table);

#endif
