/* For a thread that only asks whether a call would fail. */
#ifndef SIM_FAIL_SILENT_H
#define SIM_FAIL_SILENT_H

#include <stdbool.h>

/* Until it is called with false, sim_refuse on this thread only returns its code: it records no message. */
void sim_fail_silence(bool silent);

#endif
