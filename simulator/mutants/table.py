"""The mutants: changes of the engine's source, each with the C tests that have to notice it."""

from __future__ import annotations

from typing import NamedTuple

GATE, EVENT, STREAM, STRESS, LEVEL = "test_gate", "test_event", "test_stream", "test_stress", "test_level"
ENGINE, WAIT, TIME, FORK = "test_engine", "test_engine_wait", "test_engine_time", "test_engine_fork"
VIRTUAL = "test_vmm"
EXCHANGE = "test_exchange"
MEMORY = "test_memory"
POOL = "test_pool"
CAPTURE, INSIDE, CUT, MANY = "test_capture", "test_capture_inside", "test_capture_end", "test_capture_stress"
KERNEL = "test_kernel"
ALL = "test_stress_all"


class Mutant(NamedTuple):
    """One textual change of one file of ``core``, and the tests to run, the likeliest first."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    tsan: bool = False


MUTANTS = (
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
        "    if (push)\n        sim_pool_push(stream);\n    if (!sim_pool_has_workers())",
        "    (void)push;\n    if (!sim_pool_has_workers())",
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
    Mutant("backlog below zero", "engine.c", "level < ticket ? ticket - level : 0;", "ticket - level;", (STRESS,)),
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
    Mutant("deep sleep without deadlines", "pool.c", "sim_clock_left(sim_pool_run_timers())", "SIM_FOREVER", (TIME,)),
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
    # streams, events, latches
    Mutant(
        "destroy does not wait",
        "stream.c",
        "enum sim_wait wait = sim_engine_wait(stream, sim_stream_tail(stream), SIM_FOREVER, SIM_HELPER);",
        "enum sim_wait wait = SIM_WAIT_PASSED;",
        (ENGINE, STRESS),
    ),
    Mutant(
        "level reset in a slot's next life",
        "stream.c",
        "    atomic_store_explicit(&stream->st_flags, flags, memory_order_relaxed);\n",
        "    atomic_store(&stream->st_gate.gt_level, 0);\n",
        (STRESS, ENGINE),
    ),
    Mutant(
        "record stored after the lock",
        "event.c",
        "return submit(stream, &record_op, task, handle, site, &event->ev_record);",
        "SIM_TRY(submit(stream, &record_op, task, handle, site, NULL));\n    atomic_store(&event->ev_record, "
        "sim_record_of(stream.tg_stream, sim_stream_tail(stream.tg_stream)));\n    return ACL_SUCCESS;",
        (EVENT, STRESS),
    ),
    Mutant(
        "wait bound when it is reached",
        "event.c",
        "uint64_t target = on_flag ? 1 : sim_record_ticket(wait->et_record);",
        "uint64_t target = on_flag ? 1 : sim_record_ticket(atomic_load(&wait->et_event->ev_record));",
        (EVENT,),
    ),
    Mutant("reset leaves the flag", "event.c", "    if (is_flag(reset->et_event))", "    if (false)", (EVENT,)),
    Mutant(
        "stale record cleared",
        "event.c",
        "    task.et_record = atomic_load_explicit(&event->ev_record, memory_order_acquire);\n"
        "    return submit(stream, &reset_op",
        "    return submit(stream, &reset_op",
        (EVENT,),
    ),
    Mutant("queued task without a reference", "event.c", ".et_owns = is_flag(event), ", "", (EVENT,)),
    Mutant(
        "reference to a slot given back",
        "event.c",
        "    if (unlikely(count == 0))\n        return refuse_destroyed(handle);\n"
        "    if (likely(sim_table_find(&sim_events, handle) == event))\n",
        "    if (count == 0)\n        atomic_fetch_add(&event->ev_references, 1);\n    if (handle != NULL)\n",
        (EVENT,),
    ),
    Mutant(
        "reference to the next life",
        "event.c",
        "    if (likely(sim_table_find(&sim_events, handle) == event))\n",
        "    if (true)\n",
        (EVENT,),
    ),
    Mutant("dropped latch stays closed", "launch.c", ".op_drop = drop_hold,", "", (STREAM,)),
    Mutant(
        "latches outlive the handle",
        "stream.c",
        "    sim_gate_raise(&stream->st_latch, atomic_load(&stream->st_holds));",
        "",
        (STREAM,),
    ),
    # runs of captured instances
    Mutant(
        "parked walker calls nobody",
        "capture_replay.c",
        "            call_help(instance);\n            return code;",
        "            return code;",
        (CAPTURE,),
    ),
    Mutant("helper stays busy", "capture_replay.c", "walker->wk_busy = more;", "(void)more;", (CAPTURE,)),
    Mutant(
        "first walker not woken",
        "capture_replay.c",
        "    if (wake)\n        sim_gate_count(&instance->in_wake);\n    return more;",
        "    return more;",
        (CAPTURE,),
    ),
    Mutant(
        "first walker stays idle",
        "capture_replay.c",
        "in_idle = !more && !*all_done;",
        "in_idle |= !more;",
        (CAPTURE,),
    ),
    Mutant(
        "failure outlives its run",
        "capture_replay.c",
        "instance->in_skipping = instance->in_orphan",
        "instance->in_orphan",
        (CAPTURE,),
    ),
    Mutant("other helpers unnamed", "capture_replay.c", "        name_helper(instance);\n", "        ;\n", (CAPTURE,)),
    Mutant("helpers taken for guesses", "engine_wait.c", "*guessed || instance == NULL", "true", (CAPTURE,)),
    Mutant(
        "replaced argument freed during a run",
        "capture_replay.c",
        "instance->in_running ? NULL : instance->in_retired;\n    if (!instance->in_running)\n",
        "instance->in_retired;\n",
        (INSIDE,),
    ),
    Mutant("run that was given up never ends", "capture_replay.c", "in_orphan = !over;", "in_orphan = false;", (CUT,)),
    Mutant(
        "waits of other branches kept",
        "capture_replay.c",
        "sim_engine_drop(instance->in_branches",
        "(void)(instance->in_branches",
        (CUT,),
    ),
    Mutant(
        "record that was not reached holds on",
        "capture_replay.c",
        "        if (at->xt_stream.tg_stream != NULL && !reached)\n",
        "        if (at->xt_stream.tg_stream != NULL && false)\n",
        (CUT,),
    ),
    Mutant(
        "failure blames the next stream",
        "engine.c",
        "sim_record_passed(run->rn_blame) ? own",
        "run->rn_blame == 0 ? own",
        (CUT,),
    ),
    Mutant(
        "instance freed before its own run",
        "capture_instance.c",
        "    destroy_stream(instance->in_launch); /* with the runs that are left there */\n"
        "    sim_instance_clear(instance);\n",
        "    sim_instance_clear(instance);\n    destroy_stream(instance->in_launch);\n",
        (CUT,),
        True,
    ),
    Mutant(
        "body's runs count for the next life",
        "capture_instance.c",
        "    fresh->in_submitted = ",
        "    (void)",
        (INSIDE,),
    ),
    Mutant(
        "edge of a late record forgotten",
        "capture_event.c",
        "            join(instance, wait, i, point);\n",
        "",
        (CAPTURE,),
    ),
    Mutant(
        "record that nobody waits for comes back",
        "capture.c",
        "SIM_TASK_RECORD && last->ct_waited",
        "SIM_TASK_RECORD",
        (CAPTURE,),
    ),
    Mutant("updating streams kept", "capture_instance.c", "    sim_group_let_go(instance);\n", "", (INSIDE,)),
    Mutant("loop goes on alone", "capture_condition.c", ".op_flags = SIM_OP_HEAVY, .op_renew", ".op_renew", (INSIDE,)),
    # levels
    Mutant(
        "notify that goes without a word",
        "notify.c",
        "    release_changed(notify);\n    if (id != 0)",
        "    sim_unlock(&notify->nt_gate.gt_lock);\n    if (id != 0)",
        (LEVEL,),
    ),
    Mutant(
        "notify of a device without access",
        "notify.c",
        "if (sim_peer_reaches(context",
        "if (true || sim_peer_reaches(context",
        (LEVEL,),
    ),
    Mutant(
        "notify kept by a task without access",
        "notify.c",
        "    sim_unlock(&(*notify)->nt_gate.gt_lock);\n    run->rn_reason",
        "    run->rn_reason",
        (LEVEL,),
    ),
    Mutant(
        "holder silent about memory",
        "engine.c",
        "    sim_task_value_written();\n    sim_thread.th_function = function;",
        "    sim_thread.th_function = function;",
        (LEVEL,),
    ),
    Mutant("value wait never forgotten", "stream.c", "    sim_task_value_forget(stream);\n", "", (LEVEL,)),
    # all groups at once
    Mutant(
        "notify that is never used up",
        "notify.c",
        "        notify->nt_number = 0;\n        release_changed(notify);",
        "        release_changed(notify);",
        (ALL,),
    ),
    Mutant(
        "device torn down out of turn",
        "device.c",
        "    take_turn();\n    sim_lock(&device->dv_lock);\n    uint32_t retained",
        "    sim_lock(&device->dv_lock);\n    uint32_t retained",
        (ALL,),
        True,
    ),
    # mappings
    Mutant(
        "unmapped memory still found",
        "vmm.c",
        "        sim_area_withdraw(&sim_area, mapping->mp_start, memory->ph_size);\n",
        "        (void)memory;\n",
        (VIRTUAL,),
    ),
    Mutant(
        "pages left under an unmapped address",
        "heap_area.c",
        "    return sim_area_map(zone, address, size, zone->zn_file, address - zone->zn_base);",
        "    return 0;",
        (VIRTUAL,),
    ),
    Mutant(
        "reset forgets no physical memory",
        "vmm.c",
        "    sim_physical_forget(device);\n",
        "",
        (VIRTUAL,),
    ),
    # several processes
    Mutant(
        "sleeper that says nothing",
        "exchange_share.c",
        "atomic_store(&share->sr_page->sp_wanted, 1);",
        "(void)share;",
        (EXCHANGE,),
    ),
    Mutant(
        "anybody may open",
        "exchange_serve.c",
        "if (fits && !may_open(entry, client->cl_pid))",
        "if (fits && entry == NULL)",
        (EXCHANGE,),
    ),
    Mutant(
        "publisher that goes without a word",
        "exchange_serve.c",
        "    if (gone)\n        sim_exchange_ring(index);",
        "",
        (EXCHANGE,),
    ),
    # memory
    Mutant(
        "batch recorded in part",
        "memory_batch.c",
        "    if (findings.fi_pageable)",
        "    if (findings.fi_failed == 0)",
        (MEMORY,),
    ),
    Mutant("offset of a copy forgotten", "memory_indirect.c", "src + task->in_src_offset", "src", (MEMORY,)),
    # memory pools
    Mutant(
        "former life forgotten",
        "pool_memory_order.c",
        "        block->bl_former = *spare;\n        *spare = NULL;\n",
        "",
        (POOL,),
    ),
    Mutant(
        "anybody's block at any time",
        "pool_memory_order.c",
        "    return block->bl_pool->pl_may[SIM_POOL_BY_WAITING] ? SIM_POOL_BY_WAITING : SIM_POOL_RANKS;",
        "    return SIM_POOL_BY_TIME;",
        (POOL,),
    ),
    Mutant(
        "allocation that waits for nothing",
        "pool_memory_order.c",
        "if (sim_record_passed(task->ma_behind))",
        "if (sim_record_passed(task->ma_behind) || true)",
        (POOL,),
    ),
    # forks
    Mutant(
        "child keeps the workers",
        "pool.c",
        "    memset(&pool, 0, sizeof pool);\n    atomic_store(&sim_pool_workers, 0);",
        "    memset(&pool, 0, sizeof pool);",
        (FORK,),
    ),
    # custom kernels
    Mutant(
        "image not counted while it runs",
        "kernel_launch.c",
        "struct sim_image *image = sim_image_hold(function->fu_image);\n    sim_object_close",
        "struct sim_image *image = function->fu_image;\n    sim_object_close",
        (KERNEL,),
        True,
    ),
    Mutant(
        "late launch goes on",
        "kernel_launch.c",
        "block < count && code == ACL_SUCCESS && !is_late; block++",
        "block < count && code == ACL_SUCCESS; block++",
        (KERNEL,),
    ),
    Mutant(
        "changed launch not asked what it touches",
        "kernel_launch.c",
        "aclError code = claim_touched(launch, image);\n    sim_image_drop(image);",
        "aclError code = ACL_SUCCESS;\n    sim_image_drop(image);",
        (KERNEL,),
    ),
    Mutant(
        "two time-outs taken",
        "kernel_check.c",
        "find_attribute(config, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) == NULL ||",
        "true ||",
        (KERNEL,),
    ),
    Mutant(
        "high half of a time-out lost",
        "kernel_check.c",
        "(uint64_t)precise->timeoutUs.timeoutHigh << 32 | precise->timeoutUs.timeoutLow",
        "precise->timeoutUs.timeoutLow",
        (KERNEL,),
    ),
    Mutant(
        "argument list outlives its binary",
        "kernel_function.c",
        "for (uint64_t i = 0; i < kept; i++)",
        "for (uint64_t i = 1; i < kept; i++)",
        (KERNEL,),
    ),
)
