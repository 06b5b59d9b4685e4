/* User callbacks: report threads (subscribe, process, launch) and host functions.
 *
 * A caller is a queue of calls and the thread that makes them: a user's thread inside aclrtProcessReport, the one thread
 * a context has for its host functions, or the one that delivers exceptions. A stream hands a call over with a task
 * and, when the call blocks it, parks at its st_returned gate until the caller has raised it. */
#ifndef SIM_CALLBACK_H
#define SIM_CALLBACK_H

#include "exception.h"
#include "stream.h"

/* 107011 the stream is bound already, 107012 the thread serves another device, 507000 too many serving threads. */
aclError sim_callback_subscribe(uint64_t thread, struct sim_target stream);
/* 107011 the stream is not bound, 107012 another thread serves it. Calls handed over already are still made. */
aclError sim_callback_unsubscribe(uint64_t thread, struct sim_target stream);

/* Makes all calls that wait for this thread, waiting for the first one. 107012 nothing is bound to it, 507012 expired. */
aclError sim_callback_process(int32_t timeout);
/* True when sim_callback_process would return at once, with calls or with a failure; waits for that until `deadline`. */
bool sim_callback_wait_pending(uint64_t deadline);

/* 107015 nobody serves the stream, 107011 it is served in the other manner. */
aclError sim_callback_launch(aclrtCallback function, void *user, bool block, struct sim_target stream, void *site);
aclError sim_callback_host_function(aclrtHostFunc function, void *user, struct sim_target stream, void *site);


/* Unbinds a stream that is being destroyed: its handle is dead, its tasks are done. */
void sim_callback_forget(struct sim_stream *stream, uint64_t handle);
/* Stops the host-function thread of a context whose streams are gone; a function that runs is waited for. */
void sim_callback_close(struct sim_context *context);
/* aclFinalize: ends the threads of host functions and exceptions that have nothing to do; the next call starts them again. */
void sim_callback_rest(void);

/* aclsimReset (threads that wait in sim_callback_process leave it with 107012), and the child of a fork. The rooms
 * exception and registry are emptied, too. */
void sim_callback_reset(void);
void sim_callback_after_fork(void);

#endif
