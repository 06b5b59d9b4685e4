/* Rank tables: files that say which ranks a communicator has. */
#ifndef SIM_RANK_TABLE_H
#define SIM_RANK_TABLE_H

#include <hccl/hccl.h>
#include <stdbool.h>
#include <sys/socket.h>

struct sim_rank_table {
    uint32_t rt_count;    /* ranks */
    uint64_t rt_digest;   /* of the file */
    uint32_t rt_servers;
    bool rt_is_first;     /* the rank is on the server of rank 0 */
    struct sockaddr_storage rt_address; /* of that server, if there are several */
};

/* Reads a table, which must have the rank. Returns HCCL_E_OPEN_FILE_FAILURE (EI0004) if it cannot be read, HCCL_E_PARA
 * (EI0014) if it is wrong, and HCCL_E_NOT_SUPPORT for other forms. */
HcclResult sim_rank_table_read(const char *path, uint32_t rank, struct sim_rank_table *table);

#endif
