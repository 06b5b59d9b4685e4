/* The formats of findings: a text for persons, and JSON. */
#ifndef SIM_CHECK_WRITE_H
#define SIM_CHECK_WRITE_H

#include "check.h"

/* A finding as one JSON object, without a line break; allocated with malloc. NULL if there is no memory. */
char *sim_check_json(const struct sim_finding *finding);

/* Writes a finding to "stderr" or to a file, in the format that its name asks for. The caller's lock is held. */
void sim_check_write(const char *path, const struct sim_finding *finding);

/* Closes the file. */
void sim_check_write_end(void);

#endif
