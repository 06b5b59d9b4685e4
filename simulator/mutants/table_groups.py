"""The mutants of the groups: streams and events, captures, levels, memory, several processes, kernels."""

from __future__ import annotations

from table import ENGINE, STRESS, Mutant

EVENT, STREAM, LEVEL, ALL = "test_event", "test_stream", "test_level", "test_stress_all"
MEMORY, POOL, VIRTUAL, EXCHANGE = "test_memory", "test_pool", "test_vmm", "test_exchange"
CAPTURE, INSIDE, CUT, KERNEL = "test_capture", "test_capture_inside", "test_capture_end", "test_kernel"

GROUP_MUTANTS = (
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
        "        sim_area_withdraw(&sim_area, mapping->mp_start, memory->ph_pages.ex_size);\n",
        "        (void)memory;\n",
        (VIRTUAL,),
    ),
    Mutant(
        "pages left under an unmapped address",
        "heap_area.c",
        "    return lay(zone, address, size, -1, 0);",
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
        "    if (behind == 0)\n        return ACL_SUCCESS;\n    run",
        "    if (behind != 1)\n        return ACL_SUCCESS;\n    run",
        (POOL,),
    ),
    Mutant(
        "discarded free opens the block to all",
        "pool_memory_order.c",
        "end_life(block, freed != 0 ? freed : behind_former(block));",
        "end_life(block, freed);",
        (POOL,),
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
