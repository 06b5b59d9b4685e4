/* What functions without behaviour return. */
#ifndef SIM_MISSING_H
#define SIM_MISSING_H

#include "fail.h"

/* Returns 207000, with a message that names the function. With ACL_SIM_UNSUPPORTED=warn it also writes a line to
 * stderr, once per function. */
aclError sim_missing(const char *function) __attribute__((cold));

/* The same for a function of a library other than AscendCL (acl/abi/extra). */
aclError sim_missing_linked(const char *function) __attribute__((cold));

/* The same for a function that first appears in version `since`, which is newer than ACL_SIM_CANN. */
aclError sim_missing_newer(const char *function, const char *since) __attribute__((cold));

#endif
