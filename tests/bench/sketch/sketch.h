/* The interface of the sketch: what a runtime of streams, events, device memory and captures has to do at least.
 *
 * The sketch is the yardstick of the library. It has the mechanisms of the engine and nothing around them: no contexts,
 * no messages, no ranges of memory, no failing tasks, no watchers, no other schedule than the usual one. What the
 * library costs more than the sketch is the price of these. acl/acl.h gives the sketch the names of AscendCL, so that
 * one source text of a row measures both. */
#ifndef SKETCH_H
#define SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum sketch_code {
    SKETCH_OK,
    SKETCH_INVALID,   /* an argument */
    SKETCH_NO_MEMORY,
    SKETCH_NO_CONTEXT, /* the thread has not called sketch_enter */
    SKETCH_NO_HANDLE, /* the stream or event does not exist */
    SKETCH_NOT_READY,
    SKETCH_IN_TASK,   /* refused, because a task calls it */
};

/* Handles pack a generation, a kind and an index; a stream of NULL is the default stream. */
typedef struct sketch_stream_handle *sketch_stream;
typedef struct sketch_event_handle *sketch_event;
typedef struct sketch_graph *sketch_graph;

enum {
    SKETCH_LIGHT = 1,   /* short, and may run on any thread */
    SKETCH_HEAVY = 2,   /* wakes a worker */
    SKETCH_RECORD = 4,  /* waiters are woken right after it */
    SKETCH_WAIT = 8,    /* its argument is a record for which the stream waits */
    SKETCH_DESTROY = 16 /* the last task of a stream */
};

struct sketch_op {
    void (*op_run)(void *argument);
    unsigned op_flags;
};

/* Starts the sketch; the calling thread may use it. */
void sketch_open(void);
/* Lets the calling thread use the sketch. */
void sketch_enter(void);

int sketch_stream_create(sketch_stream *stream);
int sketch_stream_destroy(sketch_stream stream);
int sketch_stream_sync(sketch_stream stream);
int sketch_stream_query(sketch_stream stream);
int sketch_stream_wait(sketch_stream stream, sketch_event event);
int sketch_launch(sketch_stream stream, const struct sketch_op *op, const void *argument, size_t size);

int sketch_event_create(sketch_event *event);
int sketch_event_destroy(sketch_event event);
int sketch_event_record(sketch_event event, sketch_stream stream);
int sketch_event_sync(sketch_event event);

int sketch_malloc(void **block, size_t size);
int sketch_free(void *block);
/* Queues a task that sets device memory. */
int sketch_set(sketch_stream stream, void *target, int value, size_t size);
/* Copies between host and device memory on the calling thread, after the work of the default stream. */
int sketch_copy(void *target, const void *source, size_t size);

int sketch_capture_begin(sketch_stream stream);
int sketch_capture_end(sketch_stream stream, sketch_graph *graph);
int sketch_replay(sketch_graph graph, sketch_stream stream);
int sketch_graph_destroy(sketch_graph graph);

#endif
