/* What the files of the capture room share: instances, their recorded tasks, and the plan that a run walks along. */
#ifndef SIM_CAPTURE_INNER_H
#define SIM_CAPTURE_INNER_H

#include "capture.h"
#include "base/object.h"
#include "engine/context.h"

#define SIM_NO_BRANCH UINT32_MAX
#define SIM_NOWHERE UINT32_MAX /* where a switch goes that ends its stream */

/* A place in a recording: a task of a branch. */
struct sim_point {
    uint32_t pt_branch;
    uint32_t pt_index;
};

/* What a program keeps with a recorded task. */
struct sim_notes {
    void *no_info;
    size_t no_size;
    char *no_text;
};

/* A recorded task. Its argument belongs to the instance. Records and waits have no function of their own: they are the
 * edges between the branches. */
struct sim_captured {
    struct sim_task ct_task;
    struct sim_point ct_from;  /* a wait: the record it waits for; pt_branch SIM_NO_BRANCH: none (yet) */
    uint64_t ct_event;         /* the user's event */
    uint32_t ct_shadow;        /* number of the record, which its waits share */
    bool ct_waited;            /* a record that another branch waits for */
    bool ct_disabled;
    bool ct_in_built;          /* of an instance that is built */
    enum sim_task_kind ct_kind;
    struct sim_group *ct_group;
    struct sim_step *ct_step;  /* in the plan; NULL: does nothing in a run */
    uint64_t ct_handle;        /* 0 until somebody asked for it */
    struct sim_notes *ct_notes; /* or NULL */
};

/* What was submitted to one stream, in order. */
struct sim_branch {
    struct sim_instance *br_instance;
    struct sim_target br_user;   /* the stream it is taken from, until it is let go */
    struct sim_target br_stream; /* the instance's own */
    struct sim_captured *br_tasks;
    uint32_t br_count, br_room;
    uint32_t br_index;           /* among the branches */
    bool br_head;                /* starts with the instance; of built ones others wait to be activated ... */
    bool br_jumped;              /* ... or for a switch that goes there; of the plan that is being made */
    bool br_reached;             /* some run may start it; of that plan, too, as the next */
    struct sim_branch *br_next_reached;
};

/* Captured kernels that can be updated together. */
struct sim_group {
    struct sim_object gr_object;
    struct sim_instance *gr_instance;
    struct sim_group *gr_next;  /* of the same instance */
    struct sim_branch *gr_branch;
    uint32_t gr_first, gr_count; /* its tasks follow one another */
    uint32_t gr_updated;         /* while a stream updates it: how many were */
    uint64_t gr_stream;          /* that stream, or 0 */
};

/* An Ex event that a run records for, or waits for from, the outside. */
struct sim_external {
    struct sim_external *xt_next;
    struct sim_instance *xt_instance;
    uint64_t xt_event;
    uint32_t xt_number;          /* of a wait, among these */
    struct sim_target xt_stream; /* of a record: where its publications are held, one released a run; a wait has none */
    bool xt_reached;             /* in the run in progress */
};

/* ---- the plan ---- */

struct sim_step {
    const struct sim_op *sp_op;
    void *_Atomic sp_argument;      /* an update replaces it, even during a run */
    const struct sim_task *sp_task;
    const struct sim_range *sp_ranges; /* of an argument that no update replaces; NULL: to be asked for */
    size_t sp_range_count;
};

/* Tasks of one branch without an edge inside. */
struct sim_segment {
    uint32_t sg_first, sg_count; /* steps */
    uint32_t sg_next, sg_nexts;  /* the segments that wait for it, in pl_nexts */
    uint32_t sg_waits;           /* how many it waits for; of those that activate it, one is enough */
    uint32_t sg_activations;     /* how many activate it */
    uint32_t sg_begin, sg_last;  /* the first and the last segment of its branch */
    uint32_t sg_way, sg_ways;    /* of a switch at its end: where it can go, in pl_ways */
    bool sg_starts;              /* with the run, if it waits for nothing */
    uint32_t sg_left;            /* of those it waits for, not finished yet; guarded, as the next, by the run lock */
    uint32_t sg_again;           /* a branch's first: activations that came while the branch ran */
    bool sg_pending;             /* in the stack, or being run */
};

struct sim_plan {
    struct sim_step *pl_steps;
    struct sim_segment *pl_segments;
    uint32_t *pl_nexts;
    uint32_t *pl_ways;   /* segments that switches jump to */
    uint32_t *pl_ready;  /* a stack with room for every segment; guarded, as the next two, by the run lock */
    uint32_t pl_ready_count;
    uint32_t pl_left;    /* segments that are ready or being run: 0 ends the run */
    uint32_t pl_segment_count, pl_step_count;
    uint32_t pl_flags;   /* of all operations together */
};

/* Whoever runs segments: the execution's task, and as many helpers on the branches' own streams as segments wait. */
struct sim_walker {
    struct sim_instance *wk_instance;
    struct sim_segment *wk_segment; /* being run, or NULL */
    uint32_t wk_at;                 /* next step of it */
    uint32_t wk_choice;             /* which way its switch goes */
    bool wk_renewed;                /* wk_argument is the step's */
    bool wk_busy;                   /* guarded by the run lock */
    _Alignas(16) unsigned char wk_argument[SIM_TASK_BYTES];
};

enum sim_instance_state {
    SIM_INSTANCE_CAPTURING,
    SIM_INSTANCE_INVALID,  /* still capturing, but its end can only fail */
    SIM_INSTANCE_READY,
    SIM_INSTANCE_UPDATING, /* tasks were changed and are not in force yet */
    SIM_INSTANCE_BUILDING,
    SIM_INSTANCE_EMPTY,    /* a condition's body that nothing was captured into */
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

/* A model running instance. Its object's lock guards what is not said otherwise; the run lock is a leaf. */
struct sim_instance {
    struct sim_object in_object;
    _Atomic enum sim_instance_state in_state; /* written under the lock; atomic, as the next two, for calls without it */
    _Atomic aclmdlRICaptureMode in_mode;
    _Atomic uint32_t in_thread; /* that began the capture */

    /* From here to the run lock all is zero in a new instance. */
    struct sim_context *in_context;
    struct sim_instance *in_before, *in_after; /* of its context; guarded by cx_lock */
    bool in_built;
    bool in_has_end;            /* built: the last task was named */
    struct sim_branch **in_branches; /* the origin first; never changed once it is ready */
    uint32_t in_branch_count;
    uint32_t in_shadows;        /* records numbered */
    uint32_t in_unresolved;     /* waits for events that were not recorded yet */
    struct sim_group *in_groups, *in_last_group, *in_open;
    bool in_interrupted;        /* a task of another stream broke the open group */
    struct sim_external *in_externals;
    uint32_t in_external_waits;
    struct sim_condition *in_conditions; /* capture_condition.c */
    struct sim_instance *in_parent;      /* of a condition's body */
    struct sim_callback_link *in_callbacks;
    char *in_name;

    struct sim_target in_launch; /* aclmdlRIExecute's own stream, once it was used */

    /* Running. */
    struct sim_plan in_plan;
    struct sim_walker *in_walkers; /* the first is the execution's, the others follow the branches */
    bool in_running;               /* guarded by the run lock, as the next four */
    bool in_skipping;              /* a task failed or was discarded: the rest of this run is left out */
    bool in_orphan;                /* the execution's task was discarded: the last walker ends the run */
    bool in_idle;                  /* the first walker waits at in_wake */
    struct sim_retired *in_retired; /* replaced arguments that this run may still be using */
    sim_record *in_outer;          /* what its external waits are bound to, or NULL; set before its first step */

    /* Never reset, because whoever waited for the slot's former life may still look at it. */
    struct sim_lock in_run_lock;
    _Atomic sim_record in_holder, in_helper; /* who is expected to raise the first and the second gate */
    struct sim_gate in_finished;   /* how many runs have ended */
    struct sim_gate in_wake;       /* the first walker is to look again */
    uint64_t in_submitted;         /* runs queued, in all lives; guarded, as the next, by the instance's lock */
    uint64_t in_aborted;           /* of these, up to this one given up */
};

extern struct sim_table sim_capture_instances;
extern struct sim_table sim_capture_groups, sim_capture_task_handles, sim_capture_conditions;

/* ---- capture_instance.c ---- */

/* The live instance, locked. 107017; sim_capture_instance_open_own also 107002 and, when it is of another context, 107004. */
aclError sim_capture_instance_open(aclmdlRI handle, struct sim_instance **instance);
aclError sim_capture_instance_open_own(aclmdlRI handle, struct sim_instance **instance);

/* A new one in the context, locked and live; 207010, 207001. */
aclError sim_capture_instance_create(struct sim_context *context, enum sim_instance_state state,
                                     aclmdlRICaptureMode mode, struct sim_instance **instance);

/* Unlocks it, makes its handle dead, and frees it. No run is queued and no stream is taken. */
void sim_capture_instance_free(struct sim_instance *instance);

/* The capture, if there is one, is over; the streams are let go apart. */
void sim_capture_instance_stop_capture(struct sim_instance *instance, enum sim_instance_state state);

/* Forgets the recording, so that a body can be captured again. The lock is held. */
void sim_capture_instance_clear(struct sim_instance *instance);

/* A branch for a stream, which it takes over, with a stream of its own. 207008, 207001, 107027. */
aclError sim_capture_instance_adopt(struct sim_instance *instance, struct sim_target stream, enum sim_taken taken,
                            struct sim_branch **branch);
/* Gives all streams back. */
void sim_capture_instance_let_go(struct sim_instance *instance);
void sim_capture_stream_let_go(struct sim_stream *stream);

/* The instance that has taken the stream over, locked, with the stream's branch; NULL: none (any more). */
struct sim_instance *sim_capture_instance_of(struct sim_stream *stream);

/* The capture that the stream is part of, locked; 107029. */
aclError sim_capture_instance_open_capture(struct sim_target stream, struct sim_instance **instance);

/* Records a task. The new one, or NULL with a message: 207001. Its address changes with the next. */
struct sim_captured *sim_capture_branch_append(struct sim_branch *branch, const struct sim_op *op,
                                               enum sim_task_kind kind, const void *argument, size_t size, void *site);

/* Forgets what a branch recorded. */
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

/* Makes the plan from the branches. 107024 when waits go in a circle, 207001. */
aclError sim_capture_plan_make(struct sim_instance *instance);
void sim_capture_plan_free(struct sim_instance *instance);
/* Writes the segments in an order that they can run in; those that wait in a circle are left out. Not during a run. */
uint32_t sim_capture_plan_order(struct sim_plan *plan, uint32_t *order);

/* ---- capture_replay.c ---- */

/* A run of the plan: begins it (false: another one is in progress, and `run` says where to wait), opens it to walkers,
 * among them late ones of the run before, walks it as its first walker (0 at the end, SIM_PARK, or SIM_FAILED), and ends
 * it; or gives it up: what is left of it is not run. `outer`, what its external waits are bound to, is freed at its end. */
bool sim_capture_replay_begin(struct sim_instance *instance, sim_record *outer, sim_record holder, struct sim_run *run);
void sim_capture_replay_open(struct sim_instance *instance);
bool sim_capture_replay_rests(struct sim_instance *instance,
                              struct sim_run *run); /* no run is in progress, or as above */
aclError sim_capture_replay_walk(struct sim_instance *instance, struct sim_run *run);
void sim_capture_replay_end(struct sim_instance *instance);
void sim_capture_replay_give_up(struct sim_instance *instance);

/* Those outside who wait for the records of a run that did not reach them go on at its end; one that never started
 * reached none. */
void sim_capture_replay_release_outer(struct sim_instance *instance, bool started);

/* A step that waits for the outside: for what event `number` was bound to when the run was queued. */
aclError sim_capture_replay_wait_outer(struct sim_instance *instance, uint32_t number, struct sim_run *run);

/* Whether the rest of the run in progress is left out. */
bool sim_capture_replay_is_skipping(struct sim_instance *instance);

/* Replaced arguments are freed when no run can be using them. */
void sim_capture_replay_retire(struct sim_instance *instance, void *argument);

/* ---- capture_condition.c, capture_group.c, capture_record.c ---- */

void sim_capture_notes_free(struct sim_notes *notes);

/* Takes a malloc'ed argument for a task of an instance that is locked; a run in progress goes on with it. */
void sim_captured_replace(struct sim_instance *instance, struct sim_captured *task, void *argument);

void sim_capture_condition_free_all(struct sim_instance *instance);
bool sim_capture_condition_captures(const struct sim_instance *instance); /* a body is being captured */
void sim_capture_condition_assign(const struct sim_instance *instance); /* the default values, of bodies too */
bool sim_capture_condition_rests(const struct sim_instance *instance,
                                 struct sim_run *run); /* sim_capture_replay_rests of all bodies */
uint32_t sim_capture_condition_flags(const struct sim_instance *instance); /* of all operations in bodies together */
aclError sim_capture_group_admit(struct sim_instance *instance, const struct sim_branch *branch,
                                 enum sim_task_kind kind);
void sim_capture_group_joined(struct sim_instance *instance, struct sim_branch *branch);
aclError sim_capture_group_update(struct sim_target stream, const struct sim_op *op, const void *argument, size_t size,
                          void *site);
void sim_capture_group_let_go(struct sim_instance *instance); /* the streams that update its groups */
void sim_capture_group_free_all(struct sim_instance *instance);
void sim_capture_task_handle_free(const struct sim_captured *captured);

const void *sim_captured_argument(const struct sim_captured *captured);
const struct sim_range *sim_captured_ranges(const struct sim_captured *captured, size_t *count);

/* Marks the recording as failed: its streams go on capturing, its end answers 507903. */
void sim_capture_invalidate(struct sim_instance *instance);

#endif
