/* Tasks: a task is a function with its argument and the byte ranges that it reads and writes. Everything that runs on a
 * stream is a task. */
#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "address/range.h"
#include "gate.h"
#include <acl/acl.h>
#include <stdio.h>

#define SIM_PARK (-1)       /* op_run returns this to wait at a gate; it is called again when the gate has passed */
#define SIM_DROPPED (-2)    /* the task was discarded */
#define SIM_FAILED (-3)     /* the task failed, and its failure has been kept already */
#define SIM_STRAIGHT_ON UINT32_MAX
#define SIM_TASK_BYTES 96   /* argument stored in a task; longer ones are in ta_ext */
#define SIM_CHUNK_TASKS 32

struct sim_task;
struct sim_saver;
struct sim_walker;
/* The kernel of a task, for exception reports and queries. */
struct sim_kernel_view {
    uint64_t kv_function; /* 0: the kernel has no binary */
    uint32_t kv_blocks;
    bool kv_is_host;     /* the arguments are in host memory */
    const void *kv_args;
    size_t kv_args_size;
    const aclrtLaunchKernelAttr *kv_attributes;
    uint32_t kv_attribute_count;
};

/* What the engine passes to a task's function, and what the function sets, for example to wait. */
struct sim_run {
    struct sim_stream *rn_stream;
    const struct sim_task *rn_task; /* whose function runs; in a replay, the task of the step */
    uint64_t rn_ticket;        /* of this task: the stream's counter has this value once it has finished */
    struct sim_gate *rn_gate;  /* with SIM_PARK: the gate to wait at, the level to wait for, and the deadline */
    uint64_t rn_target;
    uint64_t rn_deadline;
    bool rn_expired;           /* set when op_run is called again because the deadline came first */
    bool rn_replays;           /* a step of a replay: its memory may have been freed and allocated again */
    uint32_t rn_choice;        /* set by a switch in a replay: the branch to take, or SIM_STRAIGHT_ON */
    const char *rn_reason;     /* set by a task that fails, if its code says too little; else NULL */
    uint64_t rn_blame;         /* a record: until it has passed, failures are kept for its task; 0: none */
    const struct sim_kernel_view *rn_kernel; /* the custom kernel that runs, or NULL */
};

enum sim_op_flags {
    SIM_OP_LIGHT = 1,  /* takes well under a microsecond, or parks: any thread may run it, even a submitter */
    SIM_OP_HEAVY = 2,  /* wakes a worker when it is submitted */
    SIM_OP_WORKER = 4, /* needs a worker's stack or must not run on a thread that may hold the user's locks */
    SIM_OP_KERNEL = 8, /* the user's code: calls that wait are refused inside it */
    SIM_OP_LIVE = 16,  /* depends on the moment of the call: a capture refuses it */
    SIM_OP_REPLACED = 32, /* another task may replace its argument in a recording */
};

/* The kind of a task, for lists and prints of instances and for the rules of updates. */
enum sim_task_kind {
    SIM_TASK_CUBE,   /* kernels, by the core they would run on */
    SIM_TASK_VECTOR,
    SIM_TASK_HOST_KERNEL,
    SIM_TASK_COPY,
    SIM_TASK_SET,
    SIM_TASK_CALLBACK,
    SIM_TASK_RECORD,      /* of Ex events: edges of a capture */
    SIM_TASK_WAIT,
    SIM_TASK_FLAG_RECORD, /* of flag events */
    SIM_TASK_FLAG_WAIT,
    SIM_TASK_RESET,
    SIM_TASK_EXTERNAL_RECORD,
    SIM_TASK_EXTERNAL_WAIT,
    SIM_TASK_CONDITION,
    SIM_TASK_ACTIVE,
    SIM_TASK_NOTIFY_RECORD,
    SIM_TASK_NOTIFY_WAIT,
    SIM_TASK_VALUE_WRITE,
    SIM_TASK_VALUE_WAIT,
    SIM_TASK_RANDOM,
    SIM_TASK_LABEL,  /* a position in an instance that is built by calls */
    SIM_TASK_SWITCH, /* a jump to a label or to another stream */
    SIM_TASK_MODEL,  /* an execution of a model */
    SIM_TASK_OTHER,
};
extern const char *const sim_capture_task_names[]; /* the names in prints and traces: capture_print.c */

/* Elements of memory that a task touches, as a view has them. Strides are in elements. */
struct sim_footprint {
    const void *fp_address; /* of the first element; the user's address */
    uint64_t fp_element;    /* bytes */
    uint32_t fp_rank;       /* 0: one element */
    const int64_t *fp_dims, *fp_strides;
    uint32_t fp_birth;      /* as in struct sim_range */
    bool fp_read, fp_write;
    bool fp_is_hull;        /* some of the elements may not be touched */
    const char *fp_name;    /* of the argument, or NULL */
};
typedef void sim_visit_footprint(const struct sim_footprint *footprint, void *context);

/* What a task's position means for the order of other tasks, beside its place in its stream. Kinds of tasks whose order
 * follows from op_kind alone (values, callbacks) need none. */
struct sim_edge {
    enum sim_edge_kind {
        SIM_EDGE_NONE,
        SIM_EDGE_AFTER,     /* it waits for a record */
        SIM_EDGE_RAISES,    /* it lets those continue that wait at a gate */
        SIM_EDGE_AWAITS,    /* it waits at a gate */
        SIM_EDGE_ALLOCATES, /* from here on the range exists */
        SIM_EDGE_FREES,     /* up to here */
    } eg_kind;
    uint64_t eg_record;
    const struct sim_gate *eg_gate;
    struct sim_range eg_range;
};

struct sim_op {
    const char *op_name; /* the public function that submitted it */
    aclError (*op_run)(struct sim_run *run, void *argument);
    /* The ranges of device memory that it uses, if they are not the first op_range_count members of its argument. */
    const struct sim_range *(*op_ranges)(const void *argument, size_t *count);
    /* Visits exactly what it touches, for checkers. NULL: its ranges. */
    void (*op_footprints)(const void *argument, sim_visit_footprint *visit, void *context);
    struct sim_edge (*op_edge)(const void *argument); /* for checkers; NULL: none */
    void (*op_drop)(void *argument); /* called instead of op_run when the task is discarded; may be NULL */
    uint32_t op_flags;
    uint32_t op_range_count; /* with op_ranges: 0 */
    enum sim_task_kind op_kind;
    /* Prepares a copy of a captured argument for one more replay. NULL: op_run does not change its argument. */
    aclError (*op_renew)(void *argument);
    /* The number that prints show beside the type: a notify's id, an address. NULL: they show none. */
    uint64_t (*op_number)(const void *argument);
    /* Writes the name that prints show instead of the type, as JSON text. NULL: they show the type. */
    void (*op_print)(const void *argument, FILE *file);
    /* Writes the argument as a step of a saved model (base/saver.h). NULL: the task cannot be saved. */
    aclError (*op_save)(const void *argument, struct sim_saver *saver);
};

/* One entry of a stream's queue: two cache lines, of which a small task uses only the first. */
struct sim_task {
    const struct sim_op *ta_op;
    void *ta_site;         /* return address of the public call that submitted it */
    uint32_t ta_thread;    /* kernel id of the submitting thread */
    bool ta_is_long;       /* the argument is in ta_ext; otherwise a stream's task does not set ta_ext */
    _Alignas(8) unsigned char ta_argument[SIM_TASK_BYTES];
    void *ta_ext;          /* malloc'ed */
};
_Static_assert(sizeof(struct sim_task) == 128, "a task is two cache lines");

struct sim_chunk {
    _Alignas(SIM_LINE) struct sim_task ch_tasks[SIM_CHUNK_TASKS];
    struct sim_chunk *_Atomic ch_next;
};

static inline void *sim_task_argument(struct sim_task *task)
{
    return unlikely(task->ta_is_long) ? task->ta_ext : task->ta_argument;
}

static inline const struct sim_range *sim_task_ranges(const struct sim_op *op, const void *argument, size_t *count)
{
    *count = op->op_range_count;
    return likely(op->op_ranges == NULL) ? argument : op->op_ranges(argument, count);
}

#endif
