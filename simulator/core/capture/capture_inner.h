/* Shared by the files of the capture room: instances, their recorded tasks, and the plan that a replay follows. */
#ifndef SIM_CAPTURE_INNER_H
#define SIM_CAPTURE_INNER_H

#include "capture.h"
#include "base/object.h"
#include "engine/context.h"

#define SIM_NO_BRANCH UINT32_MAX
#define SIM_NOWHERE UINT32_MAX /* the target of a switch that ends its stream */

/* A position in a recording: a task of a branch. */
struct sim_point {
    uint32_t pt_branch;
    uint32_t pt_index;
};

/* Bytes and a text that a program attached to a recorded task. */
struct sim_notes {
    void *no_info;
    size_t no_size;
    char *no_text;
};

/* A recorded task. Its argument belongs to the instance. Event records and waits run nothing in a replay: they are the
 * edges between the branches. */
struct sim_captured {
    struct sim_task ct_task;
    struct sim_point ct_from;  /* a wait: the record it waits for; pt_branch is SIM_NO_BRANCH without one (yet) */
    uint64_t ct_event;         /* the user's event */
    uint32_t ct_shadow;        /* number of the record, which its waits share; of an activation the stream's number */
    bool ct_waited;            /* a record that another branch waits for */
    bool ct_disabled;
    bool ct_in_built;          /* the instance is built without capture */
    uint8_t ct_size;           /* bytes of the argument; 0 if it is not stored in the task */
    enum sim_task_kind ct_kind;
    struct sim_group *ct_group;
    struct sim_step *ct_step;  /* in the plan; NULL: does nothing in a replay */
    uint64_t ct_handle;        /* 0 until the program asks for it */
    struct sim_notes *ct_notes; /* or NULL */
};

/* The tasks submitted to one stream, in order. */
struct sim_branch {
    struct sim_instance *br_instance;
    struct sim_target br_user;   /* the program's stream, until it is released */
    struct sim_target br_stream; /* the instance's own stream, where a helper runs */
    struct sim_captured *br_tasks;
    uint32_t br_count, br_room;
    uint32_t br_index;           /* among the branches */
    bool br_head;                /* starts with the replay; other branches wait for an activation or a switch */
    bool br_jumped;              /* a switch jumps here; this and the next two are valid while a plan is made */
    bool br_reached;             /* a replay may start it */
    struct sim_branch *br_next_reached;
};

/* Captured kernels that are updated together. */
struct sim_group {
    struct sim_object gr_object;
    struct sim_instance *gr_instance;
    struct sim_group *gr_next;  /* of the same instance */
    struct sim_branch *gr_branch;
    uint32_t gr_first, gr_count; /* its tasks are consecutive in the branch */
    uint32_t gr_updated;         /* during an update: the number of tasks updated so far */
    uint64_t gr_stream;          /* the stream that updates it, or 0 */
};

/* An Ex event that connects a replay with work outside: the replay records it, or waits for its outside record. */
struct sim_external {
    struct sim_external *xt_next;
    struct sim_instance *xt_instance;
    uint64_t xt_event;
    uint32_t xt_number;          /* a wait: its index in in_outer */
    struct sim_target xt_stream; /* a record: holds one task per queued replay, which the replay releases */
    bool xt_reached;             /* a record: the replay in progress has reached it */
};

/* ---- the plan ---- */

/* A replay of thousands of tasks reads its steps from the second-level cache, so most steps need one line only. */
#define SIM_STEP_BYTES 40
struct sim_step {
    _Alignas(SIM_LINE) aclError (*sp_run)(struct sim_run *run, void *argument); /* of sp_op */
    void *_Atomic sp_argument;      /* an update replaces it, even during a replay */
    const struct sim_task *sp_task;
    union {
        /* While the record has this allocation id, the memory of a plain step is live. SIM_OTHER_STEP, which no block
         * has: the step is not plain, or uses several blocks. */
        struct sim_range sp_range;
        unsigned char sp_stored[SIM_STEP_BYTES]; /* the argument, if it begins with that range and is short */
    };

    /* Read for other steps only. */
    bool sp_plain;                  /* its ranges are known, and it is neither heavy nor the user's code */
    uint32_t sp_range_count;
    const struct sim_range *sp_ranges; /* NULL if an update may replace the argument: then computed in each replay */
    const struct sim_op *sp_op;
};
#define SIM_OTHER_STEP UINT32_MAX
_Static_assert(offsetof(struct sim_step, sp_plain) == SIM_LINE, "most steps need one line");

/* Consecutive tasks of one branch without an edge between them. The run lock guards the last three members. */
struct sim_segment {
    uint32_t sg_first, sg_count; /* steps */
    uint32_t sg_next, sg_nexts;  /* its successors: first index and count in pl_nexts */
    uint32_t sg_waits;           /* number of predecessors, activating segments included */
    uint32_t sg_activations;     /* number of activating segments; if not 0, one finished predecessor is enough */
    uint32_t sg_begin, sg_last;  /* the first and the last segment of its branch */
    uint32_t sg_way, sg_ways;    /* targets of the switch at its end: first index and count in pl_ways */
    bool sg_starts;              /* ready when the replay begins, if it has no predecessors */
    uint32_t sg_left;            /* predecessors that have not finished yet */
    uint32_t sg_again;           /* first segment of a branch: activations that came while the branch ran */
    bool sg_pending;             /* in the ready stack, or running */
};

struct sim_plan {
    struct sim_step *pl_steps;
    struct sim_segment *pl_segments;
    uint32_t *pl_nexts;
    uint32_t *pl_ways;   /* segments that switches jump to */
    uint32_t *pl_ready;  /* a stack with room for every segment; the run lock guards this and the next two members */
    uint32_t pl_ready_count;
    uint32_t pl_left;    /* segments that are ready or running: 0 ends the replay */
    uint32_t pl_segment_count, pl_step_count;
    uint32_t pl_flags;   /* the flags of all operations, combined */
};

/* The state of a task that runs segments: the first walker is the execution's task, the others are helper tasks on the
 * streams of the branches. */
struct sim_walker {
    struct sim_instance *wk_instance;
    struct sim_segment *wk_segment; /* running, or NULL */
    uint32_t wk_at;                 /* its next step */
    uint32_t wk_choice;             /* which target the switch at its end has chosen */
    bool wk_renewed;                /* wk_argument holds a copy of the current step's argument */
    bool wk_busy;                   /* guarded by the run lock */
    _Alignas(16) unsigned char wk_argument[SIM_TASK_BYTES];
};

enum sim_instance_state {
    SIM_INSTANCE_CAPTURING,
    SIM_INSTANCE_INVALID,  /* still capturing, but ending the capture will fail */
    SIM_INSTANCE_READY,
    SIM_INSTANCE_UPDATING, /* tasks were changed; aclmdlRIUpdate is still missing */
    SIM_INSTANCE_BUILDING,
    SIM_INSTANCE_EMPTY,    /* a condition's body before its capture */
};

/* A replaced argument. */
struct sim_retired {
    struct sim_retired *re_next;
    void *re_argument;
};

struct sim_callback_link {
    struct sim_callback_link *cb_next;
    aclrtCallback cb_function;
    void *cb_user;
};

/* A model running instance. The lock of its object guards every member that is not documented otherwise; the run lock
 * is a leaf. */
struct sim_instance {
    struct sim_object in_object;
    /* These three are written under the lock, and read without it as well. */
    _Atomic enum sim_instance_state in_state;
    _Atomic aclmdlRICaptureMode in_mode;
    _Atomic uint32_t in_thread; /* the thread that began the capture */

    /* In a new instance all members from here to the run lock are zero. */
    struct sim_context *in_context;
    struct sim_instance *in_before, *in_after; /* in the list of the context; guarded by cx_lock */
    bool in_built;
    bool in_has_end;            /* built: aclmdlRIEndTask was called */
    struct sim_branch **in_branches; /* the origin first; constant once the instance is ready */
    uint32_t in_branch_count;
    uint32_t in_shadows;        /* number of the next event record */
    uint32_t in_unresolved;     /* waits for events that were not recorded yet */
    struct sim_group *in_groups, *in_last_group, *in_open;
    bool in_interrupted;        /* a task of another stream interrupted the open group */
    struct sim_external *in_externals;
    uint32_t in_external_waits;
    struct sim_condition *in_conditions; /* capture_condition.c */
    struct sim_instance *in_parent;      /* of a condition's body */
    const struct sim_walker *in_caller;  /* of a body that runs: the parent's walker if watchers were on, or NULL */
    struct sim_callback_link *in_callbacks;
    char *in_name;

    struct sim_target in_launch; /* the stream of aclmdlRIExecute, created at its first use */

    /* Replays. The run lock guards in_running to in_retired, except in_skipping. */
    struct sim_plan in_plan;
    struct sim_walker *in_walkers; /* the first belongs to the execution, the others to the branches in their order */
    bool in_running;
    _Atomic bool in_skipping;      /* a task failed or was discarded: the rest of this replay is skipped */
    bool in_orphan;                /* the execution's task was discarded: the last walker ends the replay */
    bool in_idle;                  /* the first walker waits at in_wake */
    struct sim_retired *in_retired; /* replaced arguments that this replay may still be using */
    sim_record *in_outer;          /* the records for its external waits, or NULL; set before the first step */

    /* These survive when the slot is reused, because a waiter for the previous instance may still read them. */
    struct sim_lock in_run_lock;
    _Atomic sim_record in_holder, in_helper; /* the records whose tasks will raise in_finished and in_wake */
    struct sim_gate in_finished;   /* counts the replays that have ended */
    struct sim_gate in_wake;       /* raised when the first walker must check for work again */
    uint64_t in_submitted;         /* replays queued on this slot so far */
    uint64_t in_aborted;           /* replays up to this number were given up by aclmdlRIAbort */
};

extern struct sim_table sim_capture_instances;
extern struct sim_table sim_capture_groups, sim_capture_task_handles, sim_capture_conditions;

/* ---- capture_instance.c ---- */

/* Finds the live instance and locks it. Fails with 107017. */
aclError sim_capture_instance_open(aclmdlRI handle, struct sim_instance **instance);
/* The same, and requires the current context: also fails with 107002 without one, 107004 if the instance has
 * another. */
aclError sim_capture_instance_open_own(aclmdlRI handle, struct sim_instance **instance);

/* Creates a live instance in the context and locks it. Fails with 207010. */
aclError sim_capture_instance_create(struct sim_context *context, enum sim_instance_state state,
                                     aclmdlRICaptureMode mode, struct sim_instance **instance);

/* Invalidates the handle, unlocks the instance and frees it. Requires that it has taken over no streams. */
void sim_capture_instance_free(struct sim_instance *instance);

/* Sets the state, and ends the capture if one is open. Does not release the streams. */
void sim_capture_instance_stop_capture(struct sim_instance *instance, enum sim_instance_state state);

/* Deletes the recording, so that a body can be captured again. */
void sim_capture_instance_clear(struct sim_instance *instance);

/* Takes the stream over and creates its branch, which gets a stream of its own. Fails with 207008, 207001, or 107027 if
 * the stream is captured already. */
aclError sim_capture_instance_adopt(struct sim_instance *instance, struct sim_target stream, enum sim_taken taken,
                            struct sim_branch **branch);
/* Releases all streams that the instance has taken over, also those that update its groups. */
void sim_capture_instance_let_go(struct sim_instance *instance);
/* Releases one stream: later submissions to it do not reach the instance. */
void sim_capture_stream_let_go(struct sim_stream *stream);

/* Finds and locks the instance that has taken the stream over; NULL if none has. st_branch is valid while it is
 * locked. */
struct sim_instance *sim_capture_instance_of(struct sim_stream *stream);

/* Finds and locks the instance that the stream is captured into. Fails with 107029. */
aclError sim_capture_instance_open_capture(struct sim_target stream, struct sim_instance **instance);

/* Records a task and returns it; NULL with a message without memory. Valid until the next task is recorded. */
struct sim_captured *sim_capture_branch_append(struct sim_branch *branch, const struct sim_op *op,
                                               enum sim_task_kind kind, const void *argument, size_t size, void *site);

/* Deletes the recorded tasks of a branch. */
void sim_capture_branch_clear(struct sim_branch *branch);

static inline uint64_t sim_capture_instance_handle(const struct sim_instance *instance)
{
    return atomic_load_explicit(&instance->in_object.ob_slot.sl_handle, memory_order_relaxed);
}

static inline enum sim_instance_state sim_capture_instance_state(const struct sim_instance *instance)
{
    return atomic_load_explicit(&instance->in_state, memory_order_acquire);
}

static inline bool sim_capture_instance_is_capturing(const struct sim_instance *instance)
{
    return sim_capture_instance_state(instance) <= SIM_INSTANCE_INVALID;
}

static inline struct sim_captured *sim_capture_instance_at(const struct sim_instance *instance, struct sim_point point)
{
    return &instance->in_branches[point.pt_branch]->br_tasks[point.pt_index];
}

/* ---- capture_plan.c ---- */

/* Makes the plan from the branches. Fails with 107024 if waits form a cycle, or with 207001. */
aclError sim_capture_plan_make(struct sim_instance *instance);
void sim_capture_plan_free(struct sim_instance *instance);
/* Writes the segments in an order that they can run in and returns their count; segments of a cycle are missing. Must
 * not be called during a replay, because it uses sg_left. */
uint32_t sim_capture_plan_order(struct sim_plan *plan, uint32_t *order);

/* ---- capture_replay.c ---- */

/* Begins a replay and takes `outer`, the records of its external waits. Returns false if another replay is in progress:
 * then the gate to park at is in `run`. */
bool sim_capture_replay_begin(struct sim_instance *instance, sim_record *outer, sim_record holder, struct sim_run *run);
/* Makes the first segments ready. From here on helpers may walk the plan, even late ones of the previous replay. */
void sim_capture_replay_open(struct sim_instance *instance);
/* Returns true if no replay is in progress; if not, the gate to park at is in `run`. */
bool sim_capture_replay_rests(struct sim_instance *instance, struct sim_run *run);
/* Walks the plan as its first walker. Returns 0 at the end, SIM_PARK, or SIM_FAILED. */
aclError sim_capture_replay_walk(struct sim_instance *instance, struct sim_run *run);
/* Ends a replay: counts it and frees `outer`. */
void sim_capture_replay_end(struct sim_instance *instance);
/* Skips the remaining steps of a replay whose task was discarded, and ends it, at once or with its last helper. */
void sim_capture_replay_give_up(struct sim_instance *instance);

/* Releases the external records that the replay did not reach, so that their waiters outside continue. With `started`
 * false the replay reached none of them. */
void sim_capture_replay_release_outer(struct sim_instance *instance, bool started);

/* The step of an external wait: waits for the record that event `number` had when the replay was queued. */
aclError sim_capture_replay_wait_outer(struct sim_instance *instance, uint32_t number, struct sim_run *run);

/* Whether the remaining steps of the replay in progress are skipped. */
bool sim_capture_replay_is_skipping(struct sim_instance *instance);

/* Frees a replaced argument as soon as no replay can be using it. */
void sim_capture_replay_retire(struct sim_instance *instance, void *argument);

/* ---- capture_condition.c, capture_group.c, capture_record.c ---- */

void sim_capture_notes_free(struct sim_notes *notes);

/* Gives a task of a locked instance a new malloc'ed argument. A replay in progress uses it as well. */
void sim_captured_replace(struct sim_instance *instance, struct sim_captured *task, void *argument);

void sim_capture_condition_free_all(struct sim_instance *instance);
/* Whether a body of the instance is being captured. */
bool sim_capture_condition_captures(const struct sim_instance *instance);
/* Writes the default values of the conditions, also of those in bodies. */
void sim_capture_condition_assign(const struct sim_instance *instance);
/* sim_capture_replay_rests for all bodies, at every depth. */
bool sim_capture_condition_rests(const struct sim_instance *instance, struct sim_run *run);
/* The flags of all operations in bodies, combined. */
uint32_t sim_capture_condition_flags(const struct sim_instance *instance);
/* Whether a task of this kind may be recorded while a group is open. A task of another branch invalidates the
 * capture. */
aclError sim_capture_group_admit(struct sim_instance *instance, const struct sim_branch *branch,
                                 enum sim_task_kind kind);
/* Adds the branch's last task to the open group. */
void sim_capture_group_joined(struct sim_instance *instance, struct sim_branch *branch);
/* Queues a new argument for the next task of the group that the stream updates. */
aclError sim_capture_group_update(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size,
                          void *site);
/* Releases the streams that update groups of the instance. */
void sim_capture_group_let_go(struct sim_instance *instance);
void sim_capture_group_free_all(struct sim_instance *instance);
void sim_capture_task_handle_free(const struct sim_captured *captured);

const void *sim_captured_argument(const struct sim_captured *captured);
const struct sim_range *sim_captured_ranges(const struct sim_captured *captured, size_t *count);

/* Marks the capture as failed: its streams stay captured, and ending it fails with 507903. */
void sim_capture_invalidate(struct sim_instance *instance);

#endif
