/* aclInit and aclFinalize: the count of initialisations, the JSON file, and the functions registered for them. */
#ifndef SIM_INIT_H
#define SIM_INIT_H

#include "base/fail.h"

aclError sim_init(const char *path);
aclError sim_init_finalize(void);
/* True after a successful aclInit, until it is finalised. */
bool sim_init_is_done(void);
/* Undoes one initialisation; the last one finalises. *left is how many remain; `left` may be NULL. */
aclError sim_init_release(uint64_t *left);

/* One of the two functions is not NULL. */
struct sim_init_callback {
    aclRegisterCallbackType ic_type;
    aclInitCallbackFunc ic_init;
    aclFinalizeCallbackFunc ic_finalize;
};
aclError sim_init_register(struct sim_init_callback callback, void *user);
aclError sim_init_unregister(struct sim_init_callback callback);

/* aclsimReset: the library is not initialised, and has no file and no registered functions. A registered function must
 * not call it. */
void sim_init_reset(void);
void sim_init_after_fork(void);

#endif
