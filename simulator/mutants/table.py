"""The mutants: changes of the source, each with the C tests that have to notice it; here those of the engine."""

from __future__ import annotations

from typing import NamedTuple

GATE, STRESS = "test_gate", "test_stress"
ENGINE, WAIT, TIME, FORK = "test_engine", "test_engine_wait", "test_engine_time", "test_engine_fork"
INIT = "test_init"


class Mutant(NamedTuple):
    """One textual change of one file of ``core``, and the tests to run, the likeliest first."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    tsan: bool = False


ENGINE_MUTANTS = (
    # locks
    Mutant(
        "unlock without waking",
        "lock.h",
        "if (unlikely(sleepers != 0))",
        "if (unlikely(sleepers > 99))",
        (GATE,),
    ),
    Mutant(
        "unlock relaxed",
        "lock.h",
        "&lock->lk_word, 0, memory_order_release)",
        "&lock->lk_word, 0, memory_order_relaxed)",
        (GATE, STRESS),
        True,
    ),
    Mutant(
        "sleeper not counted",
        "lock.c",
        "atomic_fetch_add_explicit(&lock->lk_sleepers, 1,",
        "atomic_fetch_add_explicit(&lock->lk_sleepers, 0,",
        (GATE,),
    ),
    # gates
    Mutant(
        "enter without re-check",
        "gate.c",
        "bool waits = !sim_gate_passed(gate, waiter->wt_target);",
        "bool waits = true;",
        (GATE,),
    ),
    Mutant(
        "set without waking",
        "gate.c",
        "    atomic_store_explicit(&gate->gt_level, level, memory_order_release);\n    sim_gate_release(gate, false);\n"
        "}\n\nvoid sim_gate_count",
        "    atomic_store_explicit(&gate->gt_level, level, memory_order_release);\n    sim_unlock(&gate->gt_lock);\n"
        "}\n\nvoid sim_gate_count",
        (GATE,),
    ),
    Mutant(
        "wake before the word is stored",
        "gate.c",
        "atomic_store_explicit(word, 1, memory_order_release);",
        "(void)0;",
        (GATE,),
    ),
    Mutant(
        "leave from any gate",
        "gate.c",
        "memory_order_relaxed) == gate;",
        "memory_order_relaxed) != NULL;",
        (GATE, TIME),
    ),
    Mutant(
        "next waiter read after the resume",
        "gate.c",
        "streams = streams->wt_next; /* before the stream is resumed: it may park again at once */\n"
        "        sim_engine_resume(stream);",
        "sim_engine_resume(stream);\n        streams = streams->wt_next;",
        (GATE,),
    ),
    Mutant("poke without hosts", "gate.c", "!(poke && waiter->wt_stream == NULL)", "true", (GATE, ENGINE)),
    Mutant(
        "waiters beyond one batch forgotten",
        "gate.c",
        "            sim_futex_wake(word, 1);\n    }",
        "            (void)0;\n    }",
        (GATE,),
    ),
    Mutant("raise lowers the level", "gate.c", "if (!sim_gate_passed(gate, level))", "if (level != 0)", (GATE,)),
    # the engine
    Mutant(
        "park without entering again after a pass",
        "engine.c",
        "if (!sim_gate_enter(gate, &stream->st_waiter))\n        sim_engine_resume(stream);",
        "if (!sim_gate_enter(gate, &stream->st_waiter))\n        (void)0;",
        (STRESS, GATE),
    ),
    Mutant(
        "park without waking hosts",
        "engine.c",
        "sim_gate_release(&stream->st_gate, true); /* hosts that slept until",
        "sim_gate_release(&stream->st_gate, false); /* hosts that slept until",
        (WAIT,),
    ),
    Mutant(
        "park without re-check of a drop",
        "engine.c",
        "else if (is_dropped(stream, run->rn_ticket) &&",
        "else if (false &&",
        (ENGINE,),
    ),
    Mutant(
        "let go and forget what is left",
        "engine.c",
        "    if (left)\n        push = make_ready(stream);\n    else\n        stream->st_state = SIM_IDLE;",
        "    stream->st_state = SIM_IDLE;",
        (ENGINE, STRESS),
    ),
    Mutant(
        "arriving task hides what was done",
        "engine.c",
        "sim_gate_release(&stream->st_gate, false); /* those who wait for what is done",
        "sim_unlock(&stream->st_gate.gt_lock); /* those who wait for what is done",
        (WAIT,),
    ),
    Mutant(
        "no flush before a long task",
        "engine.c",
        "                sim_gate_set(gate, done);\n                sim_task_value_written();\n"
        "                unflushed = 0;\n"
        "            }\n            needs_worker",
        "                unflushed = 0;\n            }\n            needs_worker",
        (WAIT,),
    ),
    Mutant("submit without listing", "engine.c", "        push = !stream->st_listed;\n", "", (ENGINE,)),
    Mutant(
        "resume without listing",
        "engine.c",
        "    if (push)\n        sim_worker_push(stream);\n    if (!sim_worker_available())",
        "    (void)push;\n    if (!sim_worker_available())",
        (ENGINE,),
    ),
    Mutant(
        "handle not re-checked by submit",
        "engine.c",
        "bool live = atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed) == target.tg_handle;\n"
        "    if (unlikely(!live ||",
        "bool live = true;\n    if (unlikely(!live ||",
        (ENGINE,),
    ),
    Mutant(
        "tail stored before the task is filled",
        "engine.c",
        "    task->ta_op = op;\n",
        "    atomic_store_explicit(&stream->st_tail, tail + 1, memory_order_release);\n    task->ta_op = op;\n",
        (STRESS,),
        True,
    ),
    Mutant(
        "tail stored relaxed",
        "engine.c",
        "atomic_store_explicit(&stream->st_tail, ticket, memory_order_release);",
        "atomic_store_explicit(&stream->st_tail, ticket, memory_order_relaxed);",
        (STRESS,),
        True,
    ),
    Mutant(
        "level stored relaxed",
        "engine.c",
        "atomic_store_explicit(&gate->gt_level, done, memory_order_release);",
        "atomic_store_explicit(&gate->gt_level, done, memory_order_relaxed);",
        (STRESS,),
        True,
    ),
    Mutant(
        "level stored before the task ran",
        "engine.c",
        "        if (sim_engine_execute(&run, task, sim_task_argument(task)) == SIM_PARK) {",
        "        atomic_store_explicit(&gate->gt_level, done + 1, memory_order_release);\n"
        "        if (sim_engine_execute(&run, task, sim_task_argument(task)) == SIM_PARK) {",
        (STRESS, ENGINE),
    ),
    Mutant(
        "chunk given back before its last task ran",
        "engine.c",
        "if (unlikely(done % SIM_CHUNK_TASKS == 0)) {",
        "if (unlikely((done + 1) % SIM_CHUNK_TASKS == 0)) {",
        (STRESS,),
    ),
    Mutant(
        "drop not checked",
        "engine.c",
        "ticket <= atomic_load_explicit(&stream->st_drop, memory_order_acquire) || stopped);",
        "stopped);",
        (ENGINE,),
    ),
    Mutant(
        "failed context not checked",
        "engine.c",
        "ticket <= atomic_load_explicit(&stream->st_drop, memory_order_acquire) || stopped);",
        "ticket <= atomic_load_explicit(&stream->st_drop, memory_order_acquire) || (stopped && false));",
        (ENGINE,),
    ),
    Mutant(
        "drop leaves the wait alone",
        "engine.c",
        "void sim_engine_drop(struct sim_stream *stream)\n{\n    drop_up_to(stream, sim_stream_tail(stream));",
        "void sim_engine_drop(struct sim_stream *stream)\n{\n"
        "    atomic_store(&stream->st_drop, sim_stream_tail(stream));",
        (ENGINE,),
    ),
    Mutant(
        "failure leaves the waits alone",
        "engine.c",
        "        wake_streams_of(context);\n}",
        "        (void)context;\n}",
        (ENGINE,),
    ),
    Mutant("no limit of the backlog", "engine.c", "if (backlog >= limit)", "if (false && limit)", (ENGINE,)),
    Mutant(
        "submitter runs long tasks",
        "engine.c",
        "if (needs_worker || role == SIM_SUBMITTER) {",
        "if (needs_worker) {",
        (TIME, ENGINE),
    ),
    Mutant(
        "worker task on a host",
        "engine.c",
        "needs_worker = (flags & SIM_OP_WORKER) && role",
        "needs_worker = false && role",
        (ENGINE,),
    ),
    Mutant(
        "kernel flag not set",
        "engine.h",
        "sim_thread.th_in_kernel = (op->op_flags & SIM_OP_KERNEL) != 0;",
        "",
        (ENGINE,),
    ),
    Mutant("help past the target", "engine.c", "done >= target || quantum == 0", "quantum == 0", (WAIT,)),
    # waiting hosts
    Mutant(
        "sleep without a second look",
        "engine_wait.c",
        "bool changed = stream->st_state != spot->sp_state ||",
        "bool changed = false && stream->st_state != spot->sp_state &&",
        (WAIT, STRESS),
    ),
    Mutant(
        "chain moved on unnoticed",
        "engine_wait.c",
        "(spot->sp_state == SIM_PARKED &&",
        "(false &&",
        (WAIT,),
    ),
    Mutant("flags not followed", "engine_wait.c", "setter == 0", "setter != 1", (WAIT,)),
    Mutant("flags followed in circles", "engine_wait.c", "look->lk_flags < FLAGS", "true", (WAIT,)),
    Mutant("long tasks behind a guess", "engine_wait.c", "        role = SIM_SUBMITTER;\n", "        ;\n", (WAIT,)),
    Mutant(
        "flag raised unnoticed",
        "engine_wait.c",
        "enter(sleep, look->lk_flag.sp_gate, look->lk_flag.sp_target)",
        "true",
        (WAIT,),
    ),
    Mutant(
        "given-up waits unnoticed",
        "engine_wait.c",
        "    sim_gate_count(&given_up);\n",
        "",
        (WAIT,),
    ),
    Mutant(
        "host forgets timers",
        "engine_wait.c",
        "timer < deadline ? timer : deadline",
        "deadline + 0 * timer",
        (WAIT, TIME),
    ),
    Mutant(
        "host stays in its gate",
        "engine_wait.c",
        "while (sleep.sl_count-- != 0)",
        "while (--sleep.sl_count != 0)",
        (STRESS, TIME),
    ),
    Mutant(
        "timed host runs long tasks",
        "engine_wait.c",
        "sim_engine_run(stream, look->lk_ticket, role, UINT32_MAX);",
        "sim_engine_run(stream, look->lk_ticket, SIM_HELPER + 0 * role, UINT32_MAX);",
        (TIME,),
    ),
    # the pool
    Mutant("push wakes nobody", "pool.c", "pool.pl_patrolled ? NULL : someone_to_wake();", "NULL;", (ENGINE,)),
    Mutant(
        "deep sleep without a look at the list",
        "pool.c",
        "bool work = pool.pl_first != NULL && !pool.pl_patrolled;",
        "bool work = false;",
        (TIME,),
    ),
    Mutant("deep sleep without deadlines", "pool.c", "sim_clock_left(sim_worker_run_timers())", "SIM_FOREVER", (TIME,)),
    Mutant(
        "timer added in silence",
        "pool.c",
        "    hurry(); /* a deep sleeper must learn of the deadline */\n",
        "",
        (TIME,),
    ),
    Mutant("timer not added again", "pool.c", "        *next = deadline < *next ? deadline : *next;\n", "", (TIME,)),
    Mutant(
        "busy worker calls nobody",
        "pool.c",
        "                hurry(); /* this worker is busy from now on */\n",
        "                (void)0;\n",
        (ENGINE,),
    ),
    Mutant(
        "patrol kept while busy",
        "pool.c",
        "            stop_patrolling(patrols);\n",
        "            (void)patrols;\n",
        (ENGINE,),
    ),
    Mutant("patrol never sleeps", "pool.c", "&& idle++ < IDLE_TICKS", "&& (idle = 0) < IDLE_TICKS", (ENGINE,)),
    Mutant(
        "grace stream dropped from the list",
        "pool.c",
        "            append(stream);\n            sim_unlock(&pool.pl_lock);\n            *grace = true;",
        "            sim_unlock(&pool.pl_lock);\n            *grace = true;",
        (ENGINE,),
    ),
    # finalisation
    Mutant("a push starts no thread", "pool.c", "(void)start(); /* without a thread", "/* without a thread", (INIT,)),
    Mutant("a call starts no thread", "caller.c", "caller->cl_own_thread && !caller->cl_runs", "false", (INIT,)),
    Mutant("a resting thread stays", "caller.c", "while (is_own_thread(caller) && ", "while (", (INIT,)),
    # forks
    Mutant(
        "child keeps the workers",
        "pool.c",
        "    memset(&pool, 0, sizeof pool);\n    atomic_store(&sim_worker_serves, false);",
        "    memset(&pool, 0, sizeof pool);",
        (FORK,),
    ),
)
