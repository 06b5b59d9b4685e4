/* Queues: bounded lists of parcels that threads hand each other, routes between them, and the shared buffers that
 * programs put into them. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "base/object.h"

/* What goes through a queue: the head of what its owner made. */
struct sim_parcel {
    struct sim_parcel *pa_next; /* while it is in a queue */
    uint64_t pa_bytes;          /* of its data */
};

/* What a queue's owner does with parcels. It also tells queues of different owners apart. */
struct sim_cargo {
    void (*ca_drop)(struct sim_parcel *parcel);                     /* frees one that nobody takes */
    struct sim_parcel *(*ca_share)(const struct sim_parcel *parcel); /* another one of the same data, or NULL; NULL: no routes */
};

/* How a call on a queue ended. */
enum sim_passage {
    SIM_PASSED,
    SIM_PASSAGE_EXPIRED, /* still full, or still empty */
    SIM_PASSAGE_GONE,    /* no queue (any more), or a stopped one */
    SIM_PASSAGE_SHORT,   /* the parcel has more bytes than there is room for, and stays */
    SIM_PASSAGE_KERNEL,  /* it would wait inside a task's function */
};

/* An id is never 0 and not used again for a long time. 200000. */
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
    const _Atomic bool *pt_given_up; /* NULL: nobody gives up */
};

/* A parcel that was not put stays the caller's. */
enum sim_passage sim_queue_put(uint32_t id, const struct sim_cargo *cargo, struct sim_parcel *parcel,
                               struct sim_patience patience);
/* `room` is set to the bytes of the parcel when they are more. */
enum sim_passage sim_queue_take(uint32_t id, const struct sim_cargo *cargo, struct sim_parcel **parcel, uint64_t *room,
                                struct sim_patience patience);
void sim_queue_wake(uint32_t id, const struct sim_cargo *cargo);

/* ---- queues of programs, and routes between them ---- */

extern const struct sim_cargo sim_queue_buffers; /* what those carry: shared buffers */

/* The current device's queue of this id: 100032, 107002, and 507000 inside a task's function. */
aclError sim_queue_check(uint32_t id, const char *argument);
/* The code of a call on it: 207013 (or, of putting, 207014), 100032, 100000, 507000. */
aclError sim_queue_outcome(enum sim_passage passage, uint32_t id, int32_t timeout, bool put);

struct sim_route {
    uint32_t ro_source, ro_target;
    int32_t ro_status; /* ACL_TDT_QUEUE_ROUTE_* */
};

/* Both leave the status behind. 100032, 107002, 100000 for a circle, and for a route that was not in force; 200000. */
aclError sim_queue_bind(struct sim_route *route);
aclError sim_queue_unbind(struct sim_route *route);

struct sim_route_question {
    acltdtQueueRouteQueryMode rq_mode;
    uint32_t rq_source, rq_target;
};
/* The routes in force that match, to be freed; 200000. */
aclError sim_queue_find_routes(const struct sim_route_question *question, struct sim_route **found, size_t *count);

/* ---- queue_route.c: what programs describe queues and routes with ---- */

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
    uint32_t qq_set; /* a bit an acltdtQueueRouteQueryInfoParamType */
};

void *sim_queue_object_create(enum sim_queue_object kind); /* NULL with a message */
/* Locked; NULL with a message (100000) for any other handle. Give it back with sim_object_close. */
void *sim_queue_object_open(enum sim_queue_object kind, const void *handle, const char *argument);
void sim_queue_object_destroy(enum sim_queue_object kind, void *object);
aclError sim_queue_routes_add(struct sim_queue_routes *list, const struct sim_route *route); /* 200000 */

/* ---- queue_buffer.c: shared buffers ---- */

#define SIM_QUEUE_PRIVATE 96               /* bytes of a buffer's private area */
#define SIM_QUEUE_CHAIN 128                /* buffers in a chain */
#define SIM_QUEUE_BUFFER_MOST (UINT64_C(4) << 30)

/* `code` where the program does not run on the device itself. */
aclError sim_queue_buffer_supported(aclError code);

/* 100000 if the handle is not a live buffer, or if another thread is putting the buffer into a queue. */
aclError sim_queue_buffer_allocate(uint64_t size, void **handle); /* 200000 */
aclError sim_queue_buffer_free(void *handle);
aclError sim_queue_buffer_data(const void *handle, void **address, size_t *size);
aclError sim_queue_buffer_set_length(void *handle, uint64_t length);
aclError sim_queue_buffer_length(const void *handle, size_t *length);
/* Reads the private area, or writes it. */
aclError sim_queue_buffer_private(const void *handle, void *data, size_t size, size_t offset, bool write);
aclError sim_queue_buffer_share(const void *handle, void **copy); /* 200000 */
aclError sim_queue_buffer_append(const void *head, const void *handle);
aclError sim_queue_buffer_chain(const void *head, uint32_t *count);
aclError sim_queue_buffer_member(const void *head, uint32_t index, void **handle);

/* On queues that were checked. A buffer that is put is dead afterwards. */
aclError sim_queue_buffer_put(uint32_t queue, void *handle, int32_t timeout);
aclError sim_queue_buffer_take(uint32_t queue, void **handle, int32_t timeout);

/* Bytes of a call: the data, anywhere, and what goes to or comes from the private area. */
struct sim_queue_bytes {
    void *qb_data, *qb_user;
    uint64_t qb_size, qb_user_size;
};
/* A parcel of the bytes, which were checked; 200000. And back: data may be NULL for none; the parcel is freed. */
aclError sim_queue_buffer_pack(const struct sim_queue_bytes *bytes, struct sim_parcel **parcel);
void sim_queue_buffer_unpack(struct sim_parcel *parcel, const struct sim_queue_bytes *bytes);
/* The same through a queue, with all checks. */
aclError sim_queue_buffer_put_bytes(uint32_t queue, const struct sim_queue_bytes *bytes, int32_t timeout);
aclError sim_queue_buffer_take_bytes(uint32_t queue, const struct sim_queue_bytes *bytes, size_t *size, int32_t timeout);

void sim_queue_reset(void); /* aclsimReset: every queue, description and buffer is gone */
void sim_queue_after_fork(void);
void sim_queue_object_reset(void); /* these four are called by those two */
void sim_queue_object_after_fork(void);
void sim_queue_buffer_reset(void);
void sim_queue_buffer_after_fork(void);

#endif
