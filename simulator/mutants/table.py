"""The mutants of the engine. A mutant is a change of the source, with the C tests that must detect it."""

from __future__ import annotations

from typing import NamedTuple

GATE, STRESS = "test_gate", "test_stress"
ENGINE, WAIT, TIME, FORK = "test_engine", "test_engine_wait", "test_engine_time", "test_engine_fork"
INIT, SPLIT = "test_init", "test_split"


class Mutant(NamedTuple):
    """One change of one definition, and the tests to run, beginning with the likeliest to fail.

    ``function`` is the name of a function, of a macro, or of a variable at file scope that has an initialiser. ``old``
    is the smallest expression that its definition has exactly once, and ``new`` replaces it. Files may move, and
    static functions of several files may share a name as long as one of them alone has the expression.
    """

    name: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...]
    tsan: bool = False


ENGINE_MUTANTS = (
    # locks
    Mutant("unlock without waking", "sim_unlock", "sleepers != 0", "sleepers > 99", (GATE,)),
    Mutant(
        "unlock relaxed",
        "sim_unlock",
        "&lock->lk_word, 0, memory_order_release",
        "&lock->lk_word, 0, memory_order_relaxed",
        (GATE, STRESS),
        tsan=True,
    ),
    Mutant(
        "sleeper not counted",
        "sim_lock_slow",
        "atomic_fetch_add_explicit(&lock->lk_sleepers, 1",
        "atomic_fetch_add_explicit(&lock->lk_sleepers, 0",
        (GATE,),
    ),
    # gates
    Mutant(
        "enter without re-check",
        "sim_gate_enter",
        "!sim_gate_passed(gate, waiter->wt_target)",
        "true",
        (GATE,),
    ),
    Mutant(
        "set without waking", "sim_gate_set", "sim_gate_release(gate, false)", "sim_unlock(&gate->gt_lock)", (GATE,)
    ),
    Mutant(
        "wake before the word is stored",
        "sim_gate_release",
        "atomic_exchange_explicit(word, 1, memory_order_acq_rel) != 0",
        "false",
        (GATE,),
    ),
    Mutant("leave from any gate", "is_queued", "== gate", "!= NULL", (GATE, TIME)),
    Mutant(
        "next waiter read after the resume",
        "sim_gate_release",
        "streams = streams->wt_next; sim_engine_resume(stream);",
        "sim_engine_resume(stream); streams = streams->wt_next;",
        (GATE,),
    ),
    Mutant(
        "poke without hosts",
        "sim_gate_release",
        "!(poke && waiter->wt_kind == SIM_WAITER_HELPS)",
        "true",
        (GATE, ENGINE),
    ),
    Mutant("waiters beyond one batch forgotten", "sim_gate_release", "sim_futex_wake(word, 1)", "(void)0", (GATE,)),
    Mutant("raise lowers the level", "raise_level", "!sim_gate_passed(gate, level)", "level != 0", (GATE,)),
    # the engine
    Mutant(
        "park without entering again after a pass",
        "park",
        "if (!sim_gate_enter(gate, &stream->st_waiter)) sim_engine_resume(stream);",
        "if (!sim_gate_enter(gate, &stream->st_waiter)) (void)0;",
        (STRESS, GATE),
    ),
    Mutant(
        "park without waking hosts",
        "park",
        "sim_gate_release(&stream->st_gate, !stays)",
        "sim_gate_release(&stream->st_gate, false)",
        (WAIT,),
    ),
    Mutant("park without re-check of a drop", "park", "is_dropped(stream, run->rn_ticket)", "false", (ENGINE,)),
    Mutant(
        "let go and forget what is left",
        "let_go",
        "if (left) push = make_ready(stream); else stream->st_state = SIM_IDLE;",
        "stream->st_state = SIM_IDLE;",
        (ENGINE, STRESS),
    ),
    Mutant(
        "arriving task hides what was done",
        "let_go",
        "sim_gate_release(&stream->st_gate, false)",
        "sim_unlock(&stream->st_gate.gt_lock)",
        (WAIT,),
    ),
    Mutant(
        "no flush before a long task",
        "sim_engine_run",
        "if (unflushed != 0) { flush(stream, done);",
        "if (unflushed != 0) {",
        (WAIT,),
    ),
    Mutant("submit without listing", "enqueue", "push = !stream->st_listed;", "", (ENGINE,)),
    Mutant(
        "resume without listing",
        "sim_engine_resume",
        "if (push) sim_worker_push(stream);",
        "(void)push;",
        (ENGINE,),
    ),
    Mutant(
        "handle not re-checked by submit",
        "enqueue",
        "atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) == target.tg_handle",
        "true",
        (ENGINE,),
    ),
    Mutant(
        "tail stored before the task is filled",
        "enqueue",
        "task->ta_op = op;",
        "atomic_store_explicit(&stream->st_tail, tail + 1, memory_order_release); task->ta_op = op;",
        (STRESS,),
        tsan=True,
    ),
    Mutant(
        "tail stored relaxed",
        "enqueue",
        "&stream->st_tail, ticket, memory_order_release",
        "&stream->st_tail, ticket, memory_order_relaxed",
        (STRESS,),
        tsan=True,
    ),
    Mutant(
        "level stored relaxed",
        "sim_engine_run",
        "&gate->gt_level, done, memory_order_release",
        "&gate->gt_level, done, memory_order_relaxed",
        (STRESS,),
        tsan=True,
    ),
    Mutant(
        "level stored before the task ran",
        "sim_engine_run",
        "if (sim_engine_execute(",
        "atomic_store_explicit(&gate->gt_level, done + 1, memory_order_release); if (sim_engine_execute(",
        (STRESS, ENGINE),
    ),
    Mutant(
        "chunk released before its last task ran",
        "sim_engine_run",
        "done % SIM_CHUNK_TASKS == 0",
        "(done + 1) % SIM_CHUNK_TASKS == 0",
        (STRESS,),
    ),
    Mutant(
        "drop not checked",
        "is_dropped",
        "unlikely(ticket <= atomic_load_explicit(&stream->st_drop, memory_order_acquire)) || stopped",
        "stopped",
        (ENGINE,),
    ),
    Mutant("failed context not checked", "is_dropped", "|| stopped", "|| (stopped && false)", (ENGINE,)),
    Mutant(
        "drop leaves the wait alone",
        "sim_engine_drop",
        "drop_up_to(stream, sim_stream_tail(stream))",
        "atomic_store(&stream->st_drop, sim_stream_tail(stream))",
        (ENGINE,),
    ),
    Mutant("failure leaves the waits alone", "keep_failure", "wake_streams_of(context)", "(void)context", (ENGINE,)),
    Mutant("no limit of the backlog", "after_submit", "backlog >= limit", "false && limit", (ENGINE,)),
    Mutant(
        "submitter runs long tasks",
        "sim_engine_run",
        "needs_worker || !may_run(role, task->ta_op)",
        "needs_worker",
        (TIME, ENGINE),
    ),
    Mutant("worker task on a host", "sim_engine_run", "(flags & SIM_OP_WORKER)", "false", (ENGINE,)),
    Mutant(
        "kernel flag not set",
        "sim_engine_call",
        "sim_thread.th_in_kernel = (op->op_flags & SIM_OP_KERNEL) != 0;",
        "",
        (ENGINE,),
    ),
    Mutant("host leaves its stream for ever", "sleep_at", "left > LEAVES_NS", "left == 0", (WAIT,)),
    Mutant("poke wakes hosts that left", "sim_gate_release", "== SIM_WAITER_HELPS", "!= SIM_WAITER_STREAM", (GATE,)),
    Mutant("help past the target", "sim_engine_run", "tail < stop ? tail : stop", "tail", (WAIT,)),
    # waiting hosts
    Mutant(
        "sleep without a second look",
        "has_changed",
        "now.sp_state != spot->sp_state ||",
        "false && now.sp_state != spot->sp_state &&",
        (WAIT, STRESS),
    ),
    Mutant("chain moved on unnoticed", "has_changed", "now.sp_state == SIM_PARKED", "false", (WAIT,)),
    Mutant("flags not followed", "look_along", "setter == 0", "setter != 1", (WAIT,)),
    Mutant("flags followed in circles", "look_along", "look->lk_flags < FLAGS", "true", (WAIT,)),
    Mutant("long tasks behind a guess", "help", "role = SIM_SUBMITTER;", ";", (WAIT,)),
    Mutant(
        "flag raised unnoticed",
        "enter_chain",
        "enter(sleep, look->lk_flag.sp_gate, look->lk_flag.sp_target, helps)",
        "true",
        (WAIT,),
    ),
    Mutant("abandoned waits unnoticed", "sim_engine_given_up", "sim_gate_count(&given_up);", "", (WAIT,)),
    Mutant(
        "host forgets timers",
        "sleep_at",
        "timer < deadline ? timer : deadline",
        "deadline + 0 * timer",
        (WAIT, TIME),
    ),
    Mutant("host stays in its gate", "sleep_at", "sleep.sl_count-- != 0", "--sleep.sl_count != 0", (STRESS, TIME)),
    Mutant(
        "timed host runs long tasks",
        "run_held",
        "ticket, role, UINT32_MAX",
        "ticket, SIM_HELPER + 0 * role, UINT32_MAX",
        (TIME,),
    ),
    Mutant("long tasks run ahead", "sim_engine_run_ahead", "ticket, SIM_SUBMITTER", "ticket, SIM_HELPER", (WAIT,)),
    # the worker threads
    Mutant(
        "push wakes no worker",
        "sim_worker_push",
        "pool.pl_patrolled && !kicks ? NULL : someone_to_wake()",
        "NULL",
        (ENGINE,),
    ),
    Mutant(
        "deep sleep without a look at the list",
        "sleep_deeply",
        "pool.pl_list.li_first != NULL && !pool.pl_patrolled",
        "false",
        (TIME,),
    ),
    Mutant(
        "deep sleep without deadlines",
        "sleep_deeply",
        "sim_clock_left(sim_worker_run_timers())",
        "SIM_FOREVER",
        (TIME,),
    ),
    Mutant("timer added in silence", "sim_worker_add_timer", "hurry();", "", (TIME,)),
    Mutant("timer not added again", "take_expired", "*next = deadline < *next ? deadline : *next;", "", (TIME,)),
    Mutant("busy worker calls nobody", "look_at_list", "hurry()", "(void)0", (ENGINE,)),
    Mutant("patrol kept while busy", "look_at_list", "stop_patrolling(patrols)", "(void)patrols", (ENGINE,)),
    Mutant("patrol never sleeps", "work", "idle++ < IDLE_TICKS", "(idle = 0) < IDLE_TICKS", (ENGINE,)),
    Mutant("grace stream dropped from the list", "look", "append(&kept, stream);", "", (ENGINE,)),
    Mutant(
        "streams behind a wanted one are lost",
        "look",
        "put_back(&taken,",
        "put_back(&(struct list){0},",
        (ENGINE,),
    ),
    Mutant(
        "awake workers still count as woken",
        "sleep_deeply",
        "pool.pl_deep_woken -= pool.pl_deep_woken != 0;",
        "",
        (ENGINE,),
    ),
    # kernels on several threads
    Mutant("pieces of others not awaited", "sim_split_run", "await(&job);", "", (SPLIT,)),
    Mutant("pieces of others not seen", "leave", "memory_order_release", "memory_order_relaxed", (SPLIT,), tsan=True),
    # finalisation
    Mutant("a push starts no thread", "sim_worker_push", "(void)start();", "", (INIT,)),
    Mutant(
        "a call starts no thread",
        "sim_caller_append",
        "caller->cl_own_thread && !caller->cl_runs",
        "false",
        (INIT,),
    ),
    Mutant("a resting thread stays", "serve", "while (is_own_thread(caller) &&", "while (", (INIT,)),
    # forks
    Mutant("child keeps the workers", "sim_worker_after_fork", "atomic_store(&sim_worker_serves, false);", "", (FORK,)),
)
