/* A task is a function plus the byte ranges it reads and writes. Everything that ever runs on a stream is one. */
#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "address/range.h"
#include "gate.h"
#include <acl/acl.h>
#include <stdio.h>

#define SIM_PARK (-1)       /* what op_run answers to wait at a gate; it is called again when the gate has passed */
#define SIM_DROPPED (-2)    /* of a task that was discarded */
#define SIM_FAILED (-3)     /* of one whose failure has been kept already */
#define SIM_STRAIGHT_ON UINT32_MAX
#define SIM_TASK_BYTES 96   /* argument kept inside a task; longer ones live in ta_ext */
#define SIM_CHUNK_TASKS 32

struct sim_task;
struct sim_saver;
/* What a task of a kernel is, for questions about it. */
struct sim_kernel_view {
    uint64_t kv_function; /* 0: it has no binary */
    uint32_t kv_blocks;
    bool kv_is_host;     /* the arguments lie in host memory */
    const void *kv_args;
    size_t kv_args_size;
    const aclrtLaunchKernelAttr *kv_attributes;
    uint32_t kv_attribute_count;
};

/* What a task learns about its run, and how it asks to wait. */
struct sim_run {
    struct sim_stream *rn_stream;
    const struct sim_task *rn_task; /* whose function runs; in a run of an instance that of the step */
    uint64_t rn_ticket;        /* of this task: its stream's level once it has finished */
    struct sim_gate *rn_gate;  /* with SIM_PARK: where to wait, for which level, at most until when */
    uint64_t rn_target;
    uint64_t rn_deadline;
    bool rn_expired;           /* set when called again because the deadline came first */
    bool rn_replays;           /* a step of an instance: its memory may have been freed and allocated again */
    uint32_t rn_choice;        /* set by a switch in an instance: which of its ways the run goes on, or straight on */
    const char *rn_reason;     /* set by a task that fails, where its code says too little; else NULL */
    uint64_t rn_blame;         /* a record: until it has passed it keeps failures instead of this task; 0: none */
    const struct sim_kernel_view *rn_kernel; /* while a custom kernel runs: that one */
};

enum sim_op_flags {
    SIM_OP_LIGHT = 1,  /* done in well under a microsecond, or parks: anybody may run it, even a submitter */
    SIM_OP_HEAVY = 2,  /* worth waking a worker for at once */
    SIM_OP_WORKER = 4, /* needs a worker's stack or must not run on a thread that may hold the user's locks */
    SIM_OP_KERNEL = 8, /* the user's code: calls that wait are refused inside it */
    SIM_OP_LIVE = 16,  /* means this very moment: a capture refuses it */
    SIM_OP_REPLACED = 32, /* a recorded one's argument may be replaced by another task */
};

/* What a task is when somebody asks: the lists of instances, their pictures, the rules of updates. */
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
    SIM_TASK_LABEL,  /* in instances that are built: places, and ... */
    SIM_TASK_SWITCH, /* ... what jumps to them or to other streams */
    SIM_TASK_MODEL,  /* an execution of a model */
    SIM_TASK_OTHER,
};
extern const char *const sim_capture_task_names[]; /* as prints and traces show them: capture_print.c */

struct sim_op {
    const char *op_name; /* the public function that submitted it */
    aclError (*op_run)(struct sim_run *run, void *argument);
    const struct sim_range *(*op_ranges)(const void *argument, size_t *count); /* NULL: touches no device memory */
    void (*op_drop)(void *argument); /* called instead of op_run when the task is discarded; may be NULL */
    uint32_t op_flags;
    enum sim_task_kind op_kind;
    /* Makes the argument, a copy of a captured one, that of one more run. NULL: op_run leaves its argument as it was. */
    aclError (*op_renew)(void *argument);
    /* What tells the task from others of its type in pictures: a notify's id, an address. NULL: nothing does. */
    uint64_t (*op_number)(const void *argument);
    /* Writes the name that pictures show instead of the type, as JSON text. NULL: the type is the name. */
    void (*op_print)(const void *argument, FILE *file);
    /* Writes the argument as a step of a saved model (base/saver.h). NULL: no model file holds such a task. */
    aclError (*op_save)(const void *argument, struct sim_saver *saver);
};

/* One place in a stream's queue: two cache lines, of which a small task touches the first. */
struct sim_task {
    const struct sim_op *ta_op;
    void *ta_ext;          /* malloc'ed argument when it does not fit, else NULL */
    void *ta_site;         /* return address of the public call that submitted it */
    uint32_t ta_thread;    /* kernel id of the submitting thread */
    uint32_t ta_spare;
    unsigned char ta_argument[SIM_TASK_BYTES];
};
_Static_assert(sizeof(struct sim_task) == 128, "a task is two cache lines");

struct sim_chunk {
    _Alignas(SIM_LINE) struct sim_task ch_tasks[SIM_CHUNK_TASKS];
    struct sim_chunk *_Atomic ch_next;
};

static inline void *sim_task_argument(struct sim_task *task)
{
    return unlikely(task->ta_ext != NULL) ? task->ta_ext : task->ta_argument;
}

#endif
