/* Findings as a SARIF 2.1.0 document, which code hosts and editors show beside the lines of a program. */
#ifndef SIM_CHECK_SARIF_H
#define SIM_CHECK_SARIF_H

#include "check.h"
#include <stdio.h>

/* Adds a finding to the document in `file`, which is empty before the first one. The document is whole after each call.
 * The caller's lock is held. False if the file cannot be written at a position, as a pipe. */
bool sim_check_sarif_add(FILE *file, const struct sim_finding *finding);

/* Forgets the document; its file is closed by the caller. */
void sim_check_sarif_end(void);

#endif
