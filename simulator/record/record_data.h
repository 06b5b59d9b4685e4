/* The bytes of host memory that calls read and fill: checksums, and the first bytes. */
#ifndef SIM_RECORD_DATA_H
#define SIM_RECORD_DATA_H

#include "record.h"

#define SIM_RECORD_HEAD 64 /* the first bytes that a line shows */

/* Copies up to `size` bytes of this process, and returns the number of bytes that could be read. */
size_t sim_record_data_read(void *to, uint64_t address, size_t size);

/* Writes what a synchronous copy is going to read from the host, as the member "read". */
void sim_record_data_before(const struct sim_record_call *call);

/* Asks the library, without the lock, on which device a call has copied or waited, and whether it was captured: such a
 * copy fills nothing until it is replayed. */
void sim_record_data_ask(struct sim_record_call *call);

/* Writes which bytes of the host are filled now that a call has succeeded, as the member "filled": those of a
 * synchronous copy, and those of earlier copies that a synchronisation has waited for. */
void sim_record_data_after(const struct sim_record_call *call);

/* Forgets the copies that no call has waited for. */
void sim_record_data_clear(void);

#endif
