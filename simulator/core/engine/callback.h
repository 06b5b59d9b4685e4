/* User callbacks: report threads (subscribe, process, launch) and host functions.
 *
 * A stream's calls go to one callback queue (caller.h), which a user's thread serves inside aclrtProcessReport, or the
 * one thread that a context has for its host functions. A task queues the call; if the call blocks its stream, the
 * stream parks at its gate st_returned until the call has been made. */
#ifndef SIM_CALLBACK_H
#define SIM_CALLBACK_H

#include "exception.h"
#include "stream.h"

/* Binds a stream to a thread. Returns 107011 if the stream is bound already, 107012 if the thread serves another
 * device, and 507000 if too many threads serve callbacks. */
aclError sim_callback_subscribe(uint64_t thread, struct sim_target stream);
/* Unbinds a stream; calls queued before are still made. Returns 107011 if the stream is not bound, and 107012 if
 * another thread serves it. */
aclError sim_callback_unsubscribe(uint64_t thread, struct sim_target stream);

/* Waits for a call of this thread and makes all that are queued. Returns 107012 if no stream is bound to the thread,
 * and 507012 if the time is over. */
aclError sim_callback_process(int32_t timeout);
/* Waits until sim_callback_process would return at once, with calls or with a failure. False if `deadline` comes
 * first. */
bool sim_callback_wait_pending(uint64_t deadline);

/* Queue a call on a stream. Return 107011 if the stream is bound for the other kind of callback; sim_callback_launch
 * also returns 107015 if no thread serves the stream. */
aclError sim_callback_launch(aclrtCallback function, void *user, bool block, struct sim_target stream, void *site);
aclError sim_callback_host_function(aclrtHostFunc function, void *user, struct sim_target stream, void *site);

/* Unbinds a stream that is being destroyed: its handle is dead and its tasks are done. */
void sim_callback_forget(struct sim_stream *stream, uint64_t handle);
/* Stops the host-function thread of a context whose streams are gone, and waits for a function that runs. */
void sim_callback_close(struct sim_context *context);
/* aclFinalize: ends the idle threads of host functions and exceptions; the next call starts them again. */
void sim_callback_rest(void);

/* aclsimReset, and the child of a fork; they also empty `exception` and `registry`. At the reset, threads that wait in
 * sim_callback_process return 107012. */
void sim_callback_reset(void);
void sim_callback_after_fork(void);

#endif
