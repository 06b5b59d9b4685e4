/* Queues: bounded lists of entries that threads pass to each other, routes between queues, and the shared buffers that
 * programs put into them. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "base/object.h"

/* A queue entry: the first member of the structure that the user of the queue puts into it. */
struct sim_parcel {
    struct sim_parcel *pa_next; /* while it is in a queue */
    uint64_t pa_bytes;          /* size of its data */
};

/* What one kind of queue carries. Its address also distinguishes the kinds: a look-up needs id and kind. ca_drop frees
 * an entry. ca_share returns another entry with the same data, NULL without memory; kinds without routes do not have
 * it. */
struct sim_cargo {
    void (*ca_drop)(struct sim_parcel *parcel);
    struct sim_parcel *(*ca_share)(const struct sim_parcel *parcel);
};

/* The result of putting or taking an entry. */
enum sim_passage {
    SIM_PASSED,
    SIM_PASSAGE_EXPIRED, /* timed out: still full, or still empty */
    SIM_PASSAGE_GONE,    /* the queue does not exist, was destroyed, or was stopped */
    SIM_PASSAGE_SHORT,   /* the entry is larger than the caller's buffer and stays in the queue */
    SIM_PASSAGE_KERNEL,  /* rejected: the call would wait inside a task's function */
};

/* Creates a queue. Fails with 200000. An id is never 0 and is reused only after a long time. */
aclError sim_queue_create(const struct sim_cargo *cargo, int32_t device, uint32_t depth, uint32_t *id);
/* Discards the remaining entries; calls that wait at the queue fail. False if the queue was already destroyed. */
bool sim_queue_destroy(uint32_t id, const struct sim_cargo *cargo);
/* From now on every call except sim_queue_destroy treats the queue as destroyed. */
void sim_queue_stop(uint32_t id, const struct sim_cargo *cargo);
/* Discards all entries. */
void sim_queue_clean(uint32_t id, const struct sim_cargo *cargo);
uint32_t sim_queue_count(uint32_t id, const struct sim_cargo *cargo);
bool sim_queue_device(uint32_t id, const struct sim_cargo *cargo, int32_t *device);

/* How long a call waits, in milliseconds; a negative number means no limit. When the flag is set and the queue is
 * woken, the call returns as if the queue were destroyed. */
struct sim_patience {
    int32_t pt_milliseconds;
    const _Atomic bool *pt_given_up; /* or NULL */
};

/* Puts an entry. On failure the caller still owns it. */
enum sim_passage sim_queue_put(uint32_t id, const struct sim_cargo *cargo, struct sim_parcel *parcel,
                               struct sim_patience patience);
/* Takes the first entry. If it has more than *room bytes, returns SIM_PASSAGE_SHORT and sets *room to its size. */
enum sim_passage sim_queue_take(uint32_t id, const struct sim_cargo *cargo, struct sim_parcel **parcel, uint64_t *room,
                                struct sim_patience patience);
/* Wakes the threads that wait at the queue, so that they check pt_given_up. */
void sim_queue_wake(uint32_t id, const struct sim_cargo *cargo);

/* ---- queues of programs, and routes between them ---- */

extern const struct sim_cargo sim_queue_buffers; /* queues of programs carry shared buffers */

/* Checks that the current device has this queue. Fails with 100032, with 107002 without a context, and with 507000
 * inside a task's function. */
aclError sim_queue_check(uint32_t id, const char *argument);
/* The error code for a passage: 207013 (taking) or 207014 (putting) for a timeout, 100032, 507000. */
aclError sim_queue_outcome(enum sim_passage passage, uint32_t id, int32_t timeout, bool put);

struct sim_route {
    uint32_t ro_source, ro_target;
    int32_t ro_status; /* ACL_TDT_QUEUE_ROUTE_* */
};

/* Adds a route and sets its status. Fails with 100032, 107002, 200000, or 100000 if routes would form a cycle. */
aclError sim_queue_bind(struct sim_route *route);
/* Removes a route and sets its status. Fails with 107002, or 100000 if the route is not bound. */
aclError sim_queue_unbind(struct sim_route *route);

struct sim_route_question {
    acltdtQueueRouteQueryMode rq_mode;
    uint32_t rq_source, rq_target;
};
/* Lists the bound routes that match; the caller frees the array. Fails with 200000. */
aclError sim_queue_find_routes(const struct sim_route_question *question, struct sim_route **found, size_t *count);

/* ---- queue_route.c: objects with which programs describe queues and routes ---- */

enum sim_queue_object { SIM_QUEUE_ATTR, SIM_QUEUE_ROUTE, SIM_QUEUE_ROUTES, SIM_QUEUE_QUESTION, SIM_QUEUE_OBJECTS };

#define SIM_QUEUE_NAME 128 /* bytes of a name, with the NUL */

struct sim_queue_attr {
    struct sim_object at_object;
    uint32_t at_depth;
    bool at_depth_set;
    char at_name[SIM_QUEUE_NAME];
};

struct sim_queue_route {
    struct sim_object qr_object;
    struct sim_route qr_route;
};

struct sim_queue_routes {
    struct sim_object rl_object;
    struct sim_route *rl_routes;
    size_t rl_count;
};

struct sim_queue_question {
    struct sim_object qq_object;
    struct sim_route_question qq_question;
    uint32_t qq_set; /* one bit per acltdtQueueRouteQueryInfoParamType that was set */
};

void *sim_queue_object_create(enum sim_queue_object kind); /* NULL with a message */
/* Finds the live object and locks it; NULL with a message (100000) for any other handle. Unlock with
 * sim_object_close. */
void *sim_queue_object_open(enum sim_queue_object kind, const void *handle, const char *argument);
void sim_queue_object_destroy(enum sim_queue_object kind, void *object);
aclError sim_queue_routes_add(struct sim_queue_routes *list, const struct sim_route *route); /* 200000 */

/* ---- queue_buffer.c: shared buffers ---- */

#define SIM_QUEUE_PRIVATE 96               /* bytes of a buffer's private area */
#define SIM_QUEUE_CHAIN 128                /* most buffers in a chain */
#define SIM_QUEUE_BUFFER_MOST (UINT64_C(4) << 30)

/* Fails with `code` on chips where the program does not run on the device itself. */
aclError sim_queue_buffer_supported(aclError code);

/* All functions with a handle fail with 100000 if it is not a live buffer, or if another thread is putting it into a
 * queue; those that allocate fail with 200000 without memory. */
aclError sim_queue_buffer_allocate(uint64_t size, void **handle);
/* Frees a buffer and the buffers appended to it. A buffer that was appended itself is rejected (100000). */
aclError sim_queue_buffer_free(void *handle);
aclError sim_queue_buffer_data(const void *handle, void **address, size_t *size);
aclError sim_queue_buffer_set_length(void *handle, uint64_t length);
aclError sim_queue_buffer_length(const void *handle, size_t *length);
/* Reads or writes the private area; the range was checked. */
aclError sim_queue_buffer_private(const void *handle, void *data, size_t size, size_t offset, bool write);
/* Makes another buffer over the same bytes. */
aclError sim_queue_buffer_share(const void *handle, void **copy);
/* Appends a buffer to the chain of `head`. */
aclError sim_queue_buffer_append(const void *head, const void *handle);
/* Counts the buffers of a chain. */
aclError sim_queue_buffer_chain(const void *head, uint32_t *count);
/* The handle of one buffer of a chain. */
aclError sim_queue_buffer_member(const void *head, uint32_t index, void **handle);

/* For queues that sim_queue_check accepted. Putting a buffer invalidates its handle; taking one returns a new
 * handle. */
aclError sim_queue_buffer_put(uint32_t queue, void *handle, int32_t timeout);
aclError sim_queue_buffer_take(uint32_t queue, void **handle, int32_t timeout);

/* The program's memory in a call: the data, in host or device memory, and the content of the private area. */
struct sim_queue_bytes {
    void *qb_data, *qb_user;
    uint64_t qb_size, qb_user_size;
};
/* Makes a queue entry from bytes that were checked. Fails with 200000. */
aclError sim_queue_buffer_pack(const struct sim_queue_bytes *bytes, struct sim_parcel **parcel);
/* Copies an entry into the program's memory and frees it. Without qb_data the data is not copied. */
void sim_queue_buffer_unpack(struct sim_parcel *parcel, const struct sim_queue_bytes *bytes);
/* Put and take bytes through a queue, with all checks. */
aclError sim_queue_buffer_put_bytes(uint32_t queue, const struct sim_queue_bytes *bytes, int32_t timeout);
aclError sim_queue_buffer_take_bytes(uint32_t queue, const struct sim_queue_bytes *bytes, size_t *size,
                                     int32_t timeout);

void sim_queue_reset(void); /* aclsimReset: destroys every queue, description and buffer */
void sim_queue_after_fork(void);
void sim_queue_object_reset(void); /* called by the two functions above, as the next three */
void sim_queue_object_after_fork(void);
void sim_queue_buffer_reset(void);
void sim_queue_buffer_after_fork(void);

#endif
