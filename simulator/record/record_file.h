/* The file of a recording. */
#ifndef SIM_RECORD_FILE_H
#define SIM_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the file of ACL_RECORD_CALLS and writes the first line, unless that is done. False: nothing is recorded, since
 * the variable is not set, or the file cannot be written, which one message on stderr has said. */
bool sim_record_file_open(void);

/* Writes a line with one call of the system. A failure ends the recording with a message. */
void sim_record_file_write(const char *line, size_t size);

/* In the child of a fork: its own file if the name has %p, otherwise none. */
void sim_record_file_after_fork(void);

#endif
