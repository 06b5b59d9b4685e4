/* aclInit and aclFinalize: the count of initialisations, the JSON file, and the functions registered for both. */
#ifndef SIM_INIT_H
#define SIM_INIT_H

#include "base/fail.h"

aclError sim_init(const char *path);
aclError sim_init_finalize(void);
bool sim_init_is_done(void);
/* Gives one initialisation back; *left may be NULL. */
aclError sim_init_release(uint64_t *left);

/* One of the two functions is given. */
struct sim_init_callback {
    aclRegisterCallbackType ic_type;
    aclInitCallbackFunc ic_init;
    aclFinalizeCallbackFunc ic_finalize;
};
aclError sim_init_register(struct sim_init_callback callback, void *user);
aclError sim_init_unregister(struct sim_init_callback callback);

/* aclsimReset: not initialised, no file, no registered functions. Not to be called from one of them. */
void sim_init_reset(void);
void sim_init_after_fork(void);

#endif
