/* Plans of operators, kept for a client that asks for them again. Before PyTorch's and MindSpore's backends create the
 * descriptors of a call, they make a key from all of its arguments but the addresses of tensors, which they list, and
 * ask for an executor. If an equal call was planned before, they get one and go to the second phase at once. Otherwise
 * they go through the first phase, which keeps the plan under the key. */
#ifndef SIM_PLAN_CACHE_H
#define SIM_PLAN_CACHE_H

#include "call.h"

/* Both words are 0: none. The second one is 0 for a number of the client, and odd for bytes. */
struct sim_plan_key {
    uint64_t pl_words[2];
};

static inline struct sim_plan_key sim_plan_cache_number(uint64_t number)
{
    return (struct sim_plan_key){{number, 0}};
}

/* The key that stands for bytes of the client; none if there are no bytes. */
struct sim_plan_key sim_plan_cache_key(const void *bytes, size_t size);

/* Whether plans are kept now: not while watchers are on, because they see both phases of each call. Notes the operator
 * that the calling thread is about to describe. */
bool sim_plan_cache_serves(const char *name);

/* The calling thread forgets the key and the addresses that it has given. */
void sim_plan_cache_begin(void);

/* The address of the next tensor of the call, and the key under which the next plan of the thread is kept. */
void sim_plan_cache_add_address(void *address);
void sim_plan_cache_set_key(struct sim_plan_key key);

/* Makes an executor, for the thread's addresses, of the plan under the key. NULL if there is none, the thread listed
 * another number of addresses than the plan has tensors, or it has no current context. */
aclOpExecutor *sim_plan_cache_find(struct sim_plan_key key, uint64_t *workspace_size);

/* Called by the first phase when sim_thread.th_keeps_plan is set: keeps the plan if it is of the operator that the
 * thread has described, and its tensors have the addresses that the thread has listed. */
void sim_plan_cache_keep(const struct sim_pack *pack);

void sim_plan_cache_empty(void); /* a kernel was registered, or everything ends */
void sim_plan_cache_after_fork(void);

#endif
