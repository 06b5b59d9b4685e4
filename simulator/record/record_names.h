/* Canonical names of handles and addresses: the kind of the object and its number, in the order of appearance. */
#ifndef SIM_RECORD_NAMES_H
#define SIM_RECORD_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Names a new object. Objects that have the same value or lie in the same bytes have ended. `is_address`: it is memory
 * of `size` bytes; otherwise a handle. */
void sim_record_names_make(uint8_t kind, bool is_address, uint64_t value, uint64_t size);

/* Ends the object of a value; NULL if there is none. The result is passed to sim_record_names_settle after the call:
 * with `keep`, the object lives on, unless its value was used for another one meanwhile. */
struct sim_record_name *sim_record_names_end(uint8_t kind, bool is_address, uint64_t value);
void sim_record_names_settle(struct sim_record_name *ended, bool keep);

/* Writes the name of a handle, which gets one if it has none. */
void sim_record_names_put_handle(FILE *to, uint8_t kind, uint64_t value);

/* Writes an address as its block and the offset in it, or "host". */
void sim_record_names_put_address(FILE *to, uint64_t address);

/* True if an address is in memory that only the device reads. */
bool sim_record_names_is_device(uint64_t address);

/* Forgets all of them. */
void sim_record_names_clear(void);

#endif
