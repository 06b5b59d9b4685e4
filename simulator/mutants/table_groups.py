"""The mutants of the groups: from streams and events, captures and memory to models and operators."""

from __future__ import annotations

from table import ENGINE, STRESS, Mutant

EVENT, STREAM, LEVEL, ALL = "test_event", "test_stream", "test_level", "test_stress_all"
MEMORY, POOL, VIRTUAL, EXCHANGE = "test_memory", "test_pool", "test_vmm", "test_exchange"
CAPTURE, INSIDE, CUT, KERNEL = "test_capture", "test_capture_inside", "test_capture_end", "test_kernel"
RECOVERY, QUEUE, MODEL, ROW = "test_recovery", "test_queue", "test_model", "test_row"
RESIZE, HEAP, TRACE, SCHEDULE = "test_row_resize", "test_heap", "test_trace", "test_schedule"
PLANS, SNAPSHOT = "test_plan_cache", "test_snapshot"

GROUP_MUTANTS = (
    # streams, events, latches
    Mutant(
        "destroy does not wait",
        "sim_stream_destroy",
        "sim_engine_wait(stream, sim_stream_tail(stream), SIM_FOREVER, SIM_HELPER)",
        "SIM_WAIT_PASSED",
        (ENGINE, STRESS),
    ),
    Mutant(
        "level reset when a slot is used again",
        "sim_stream_create",
        "atomic_store_explicit(&stream->st_flags, flags, memory_order_relaxed)",
        "atomic_store(&stream->st_gate.gt_level, 0)",
        (STRESS, ENGINE),
    ),
    Mutant(
        "record stored after the lock",
        "sim_event_record",
        "handle, site, &event->ev_record);",
        "handle, site, NULL) || (atomic_store(&event->ev_record, "
        "sim_record_of(stream.tg_stream, sim_stream_tail(stream.tg_stream))), ACL_SUCCESS);",
        (EVENT, STRESS),
    ),
    Mutant(
        "wait bound when it is reached",
        "run_wait",
        "sim_record_ticket(wait->et_record)",
        "sim_record_ticket(atomic_load(&wait->et_event->ev_record))",
        (EVENT,),
    ),
    Mutant("reset leaves the flag", "run_reset", "is_flag(reset->et_event)", "false", (EVENT,)),
    Mutant(
        "stale record cleared",
        "sim_event_reset",
        "task.et_record = atomic_load_explicit(&event->ev_record, memory_order_acquire);",
        "",
        (EVENT,),
    ),
    Mutant(
        "queued task without a reference",
        "submit",
        "SIM_TRY(sim_event_refer(task->et_event, handle))",
        "(void)handle",
        (EVENT,),
    ),
    Mutant(
        "reference to a released slot",
        "sim_event_refer",
        "if (unlikely(count == 0)) return refuse_destroyed(handle); "
        "if (likely(sim_table_find(&sim_events, handle) == event))",
        "if (count == 0) atomic_fetch_add(&event->ev_references, 1); if (handle != NULL)",
        (EVENT,),
    ),
    Mutant(
        "reference to the slot's next event",
        "sim_event_refer",
        "likely(sim_table_find(&sim_events, handle) == event)",
        "true",
        (EVENT,),
    ),
    Mutant("idle stream hides its failure", "is_calm", "| (uint32_t)error", "| 0 * (uint32_t)error", (STREAM,)),
    Mutant("dropped latch stays closed", "hold_op", ".op_drop = drop_hold,", "", (STREAM,)),
    Mutant(
        "latches outlive the handle",
        "sim_stream_destroy",
        "sim_gate_raise(&stream->st_latch, holds);",
        ";",
        (STREAM,),
    ),
    # replays of captured instances
    Mutant(
        "parked walker calls nobody",
        "run_segment",
        "call_help(instance); return code;",
        "return code;",
        (CAPTURE,),
    ),
    Mutant("helper stays busy", "next_segment", "walker->wk_busy = more", "(void)more", (CAPTURE,)),
    Mutant("first walker not woken", "next_segment", "if (wake) sim_gate_count(&instance->in_wake);", "", (CAPTURE,)),
    Mutant("first walker stays idle", "next_segment", "in_idle = !more && !*all_done", "in_idle |= !more", (CAPTURE,)),
    Mutant(
        "failure outlives its run",
        "sim_capture_replay_open",
        "atomic_store_explicit(&instance->in_skipping, false, memory_order_relaxed);",
        "",
        (CAPTURE,),
    ),
    Mutant("step in freed memory", "is_single", "return sim_block_birth", "return true || sim_block_birth", (CAPTURE,)),
    Mutant("plain steps of a replay not watched", "run_steps", "!watched && is_single", "is_single", (INSIDE,)),
    Mutant(
        "steps run again when they are watched",
        "run_segment",
        "walker->wk_at = at; return run_watched",
        "return run_watched",
        (INSIDE,),
    ),
    Mutant("watchers not looked for in a replay", "run_segment", "!watched && sim_watcher_any()", "false", (INSIDE,)),
    Mutant("steps of a replay not watched", "is_simple", "&& !sim_watcher_any()", "", (INSIDE,)),
    Mutant("steps of a replay not checked", "is_simple", "&& memory_lives(step)", "", (CAPTURE,)),
    Mutant("other helpers unnamed", "next_segment", "name_helper(instance);", ";", (CAPTURE,)),
    Mutant("helpers taken for guesses", "sim_capture_setter", "(void)guessed", "*guessed = true", (CAPTURE,)),
    Mutant(
        "replaced argument freed during a run",
        "sim_capture_replay_retire",
        "instance->in_running ? NULL : instance->in_retired; if (!instance->in_running)",
        "instance->in_retired;",
        (INSIDE,),
    ),
    Mutant("abandoned run never ends", "sim_capture_replay_give_up", "in_orphan = !over", "in_orphan = false", (CUT,)),
    Mutant("waits of other branches kept", "sim_capture_replay_give_up", "sim_engine_drop", "(void)", (CUT,)),
    Mutant("record that was not reached holds on", "sim_capture_replay_release_outer", "!reached", "false", (CUT,)),
    Mutant(
        "failure blames the next stream",
        "keep_failure",
        "sim_record_passed(run->rn_blame)",
        "run->rn_blame == 0",
        (CUT,),
    ),
    Mutant(
        "instance freed before its own run",
        "sim_capture_instance_free",
        "destroy_stream(instance->in_launch); sim_capture_instance_clear(instance);",
        "sim_capture_instance_clear(instance); destroy_stream(instance->in_launch);",
        (CUT,),
        tsan=True,
    ),
    Mutant(
        "a body's runs count for the slot's next instance",
        "sim_capture_instance_create",
        "fresh->in_submitted =",
        "(void)",
        (INSIDE,),
    ),
    Mutant("edge of a late record forgotten", "resolve", "join(instance, wait, i, point);", "", (CAPTURE,)),
    Mutant(
        "record without a wait comes back",
        "check_joined",
        "SIM_TASK_RECORD && last->ct_waited",
        "SIM_TASK_RECORD",
        (CAPTURE,),
    ),
    Mutant(
        "updating streams kept", "sim_capture_instance_let_go", "sim_capture_group_let_go(instance);", "", (INSIDE,)
    ),
    Mutant("loop goes on alone", "branching_op", ".op_flags = SIM_OP_HEAVY,", "", (INSIDE,)),
    # notifies and values in memory
    Mutant(
        "destroyed notify wakes nobody",
        "sim_notify_destroy",
        "release_changed(notify)",
        "sim_unlock(&notify->nt_gate.gt_lock)",
        (LEVEL,),
    ),
    Mutant("notify of a device without access", "hold_for", "sim_peer_reaches(", "true || sim_peer_reaches(", (LEVEL,)),
    Mutant(
        "notify kept by a task without access", "hold_for", "sim_unlock(&(*notify)->nt_gate.gt_lock);", "", (LEVEL,)
    ),
    Mutant(
        "holder does not report written memory",
        "sim_engine_run",
        "sim_task_value_written(); sim_thread.th_function = function;",
        "sim_thread.th_function = function;",
        (LEVEL,),
    ),
    Mutant("value wait never forgotten", "sim_stream_destroy", "sim_task_value_forget(stream);", "", (LEVEL,)),
    Mutant("notify that is never used up", "run_wait", "notify->nt_number = 0;", "", (LEVEL,)),
    # all groups at once
    Mutant("device torn down without the lifecycle lock", "sim_device_reset", "take_turn();", "", (ALL,), tsan=True),
    # heaps
    Mutant(
        "block freed by two threads",
        "give_large",
        "atomic_load_explicit(record, memory_order_relaxed) != word",
        "false",
        (HEAP,),
    ),
    Mutant("pages of a freed block still counted", "give_large", "discharge(heap,", "(void)(", (HEAP,)),
    # mappings
    Mutant(
        "unmapped memory still found",
        "hide",
        "sim_heap_area_withdraw(&sim_heap_area, mapping->mp_start, memory->ph_pages.ex_size)",
        "(void)memory",
        (VIRTUAL,),
    ),
    Mutant(
        "pages left under an unmapped address",
        "sim_heap_area_unmap",
        "lay(zone, address, size, -1, 0)",
        "0",
        (VIRTUAL,),
    ),
    Mutant(
        "reset forgets no physical memory", "sim_vmm_close_device", "sim_vmm_physical_forget(device);", "", (VIRTUAL,)
    ),
    # several processes
    Mutant(
        "sleeper does not announce itself",
        "sim_exchange_share_want",
        "atomic_store(&share->sr_page->sp_wanted, 1)",
        "(void)share",
        (EXCHANGE,),
    ),
    Mutant("every process may open", "reply_to", "!may_open(entry, client->cl_pid)", "entry == NULL", (EXCHANGE,)),
    Mutant("publisher that exits wakes nobody", "lose", "if (gone) sim_exchange_ring(index);", "", (EXCHANGE,)),
    # memory
    Mutant(
        "batch recorded in part",
        "sim_memory_copy_batch_async",
        "findings.fi_pageable",
        "findings.fi_failed == 0",
        (MEMORY,),
    ),
    Mutant("offset of a copy forgotten", "run_indirect", "src + task->in_src_offset", "src", (MEMORY,)),
    # memory pools
    Mutant("former allocation forgotten", "take", "block->bl_former = *spare; *spare = NULL;", "", (POOL,)),
    Mutant(
        "block of any stream at any time",
        "rank_for",
        "block->bl_pool->pl_may[SIM_POOL_BY_WAITING] ? SIM_POOL_BY_WAITING :",
        "true ? SIM_POOL_BY_TIME :",
        (POOL,),
    ),
    Mutant("allocation does not wait", "run_malloc", "if (behind == 0)", "if (behind != 1)", (POOL,)),
    Mutant(
        "discarded free makes the block available to all streams",
        "end_by_task",
        "freed != 0 ? freed : behind_former(block)",
        "freed",
        (POOL,),
    ),
    # custom kernels
    Mutant(
        "image not counted while it runs",
        "hold_image",
        "sim_kernel_image_hold(function->fu_image)",
        "function->fu_image",
        (KERNEL,),
        tsan=True,
    ),
    Mutant("late launch goes on", "run_blocks", "&& !is_late", "", (KERNEL,)),
    Mutant(
        "changed launch claims no memory",
        "claim_changed",
        "claim_touched(launch, image)",
        "ACL_SUCCESS",
        (KERNEL,),
    ),
    Mutant(
        "two time-outs taken",
        "sim_kernel_check_config",
        "find_attribute(config, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) == NULL",
        "true",
        (KERNEL,),
    ),
    Mutant(
        "high half of a time-out lost",
        "sim_kernel_limit",
        "(uint64_t)precise->timeoutUs.timeoutHigh << 32 |",
        "",
        (KERNEL,),
    ),
    Mutant(
        "argument list outlives its binary",
        "sim_kernel_function_destroy",
        "i = 0; i < kept",
        "i = 1; i < kept",
        (KERNEL,),
    ),
    # effects of a failed task
    Mutant(
        "work in a stopped context",
        "sim_stream_own",
        "sim_context_check_failed(sim_thread.th_context)",
        "ACL_SUCCESS",
        (RECOVERY,),
    ),
    Mutant(
        "no end of a capture in a stopped context",
        "sim_capture_end",
        "sim_stream_to_clean",
        "sim_stream_own",
        (RECOVERY,),
    ),
    # host memory that is mapped for devices, and unmapped addresses
    Mutant(
        "mapped memory refused",
        "find_mapped",
        "place->pl_class != SIM_MEMORY_DEAD",
        "place->pl_class == SIM_MEMORY_DEAD",
        (MEMORY,),
    ),
    Mutant("end of mapped memory ignored", "find_mapped", "left_in(block, range->rg_address)", "SIZE_MAX", (MEMORY,)),
    Mutant(
        "another registration accepted", "sim_memory_refuse", "&& mapped.bk_birth == range->rg_birth", "", (MEMORY,)
    ),
    Mutant(
        "low addresses taken",
        "sim_memory_span",
        "sim_memory_is_low(place, address)",
        "sim_memory_is_low(place, address) && size == 0",
        (MEMORY,),
    ),
    Mutant(
        "low addresses in batches taken",
        "check_side",
        "sim_memory_is_low(place, address)",
        "sim_memory_is_low(place, address) && size == 0",
        (MEMORY,),
    ),
    Mutant(
        "low addresses registered",
        "sim_memory_register",
        "sim_memory_is_low(&place, address)",
        "sim_memory_is_low(&place, address) && size == 0",
        (MEMORY,),
    ),
    # chips whose programs run on the device itself
    Mutant("run mode of another chip", "sim_memory_runs_on_device", "SIM_P310B", "SIM_P310P", (MEMORY,)),
    Mutant(
        "copies of a host on the device",
        "direction_of",
        "|| unlikely(sim_memory_runs_on_device())",
        "",
        (MEMORY,),
    ),
    Mutant("virtual memory on the device", "sim_vmm_supported", "!sim_memory_runs_on_device()", "true", (MEMORY,)),
    # locking the process
    Mutant("copies go on in a locked process", "sim_memory_copy_kind", "sim_watcher_any()", "false", (SNAPSHOT,)),
    Mutant("queries go on in a locked process", "is_done", "watched) == 0", "0) == 0", (SNAPSHOT,)),
    Mutant("unlocking switches watchers off", "let_go", "~SIM_LOCKED", "0", (SNAPSHOT,)),
    # live objects
    Mutant(
        "host memory not counted", "sim_memory_count", "+ sim_heap_zone_count(&sim_heap_zone_of_host)", "", (MEMORY,)
    ),
    Mutant(
        "every type of object counted",
        "sim_handle_count",
        "only != SIM_KINDS && kind != (int)only",
        "only == SIM_KINDS && kind == (int)only",
        (MEMORY,),
    ),
    Mutant(
        "types known by their first letters",
        "sim_handle_kind_named",
        "strcmp(name, sim_handle_kind_name(kind))",
        "strncmp(name, sim_handle_kind_name(kind), strlen(sim_handle_kind_name(kind)))",
        (MEMORY,),
    ),
    # replays
    Mutant(
        "replay refuses memory that was allocated again",
        "check_memory",
        "sim_memory_is_there(&ranges[i])",
        "!sim_memory_is_there(&ranges[i])",
        (CAPTURE,),
    ),
    Mutant(
        "every task takes memory that was allocated again",
        "check_memory",
        "(run->rn_replays && sim_memory_is_there(&ranges[i]))",
        "sim_memory_is_there(&ranges[i])",
        (CAPTURE,),
    ),
    Mutant(
        "replay takes freed memory",
        "check_memory",
        "(run->rn_replays && sim_memory_is_there(&ranges[i]))",
        "run->rn_replays",
        (CAPTURE,),
    ),
    # channels
    Mutant("any time-out without a capacity", "sim_channel_send", "timeout == -1", "timeout != -2", (QUEUE,)),
    # models
    Mutant(
        "ports smaller than their shape",
        "check_port",
        "port->po_bytes >= needed",
        "port->po_bytes + 1 >= needed",
        (MODEL,),
    ),
    Mutant("short buffers overrun", "is_short", "!is_control(signature, call, at)", "false", (MODEL,)),
    Mutant(
        "whole tensor stored in a short buffer",
        "sim_model_call_finish",
        "tensor_at(signature, call, at)->data, operand->op_bytes",
        "tensor_at(signature, call, at)->data, needed_at(signature, call, at, gear)",
        (MODEL,),
    ),
    Mutant(
        "whole tensor read from a short buffer",
        "widen",
        "tensor->data, sim_model_call_operands(call)[at].op_bytes",
        "tensor->data, needed_at(signature, call, at, gear)",
        (MODEL,),
    ),
    Mutant("buffers may be shorter", "place", "SIM_MODEL_CALL_SLACK <", "SIM_MODEL_CALL_SLACK + 1 <", (MODEL,)),
    Mutant("slack of a byte less", "place", "SIM_MODEL_CALL_SLACK <", "SIM_MODEL_CALL_SLACK <=", (MODEL,)),
    # outputs whose size the kernel finds
    Mutant(
        "tensor resized whatever its generation",
        "sim_tensor_resize",
        "sim_object_peek(&tensors, handle)",
        "sim_table_at(&tensors, sim_handle_index((uint64_t)(uintptr_t)handle))",
        (RESIZE,),
    ),
    Mutant("handles of outputs not kept", "sim_row_keep_handles", "pack->pk_call->ca_handles = offset;", "", (RESIZE,)),
    # outputs that overlap inputs
    Mutant("every kernel works in place", "collides", "call->ca_kernel.kn_in_place &&", "", (ROW,)),
    Mutant(
        "overlap by a part unseen",
        "meet",
        "start < other_start + other->rg_size",
        "start == other_start",
        (ROW,),
    ),
    Mutant(
        "copies of outputs, not of inputs",
        "collides",
        "input->cu_range->rg_write",
        "!input->cu_range->rg_write",
        (ROW,),
    ),
    # the trace
    Mutant("chunk reused while it is written", "add_chunk", "&& !atomic_load(&is_writing)", "", (TRACE,)),
    Mutant("dropped events not counted", "add_chunk", "thread->th_dropped += fresh->ch_records;", "", (TRACE,)),
    # schedules
    Mutant(
        "a hold outlives the host that has passed it",
        "decide",
        "all->hd_first->ho_ticket <= sim_gate_level(&stream->st_gate)",
        "false",
        (SCHEDULE,),
    ),
    Mutant("polls run nothing", "poll", "polls > PATIENCE ? polls - PATIENCE : 0", "0", (SCHEDULE,)),
    Mutant("a replay's branches are not chosen", "choose", "index = 0", "index = count - 1", (SCHEDULE,)),
    Mutant(
        "a wait runs one chain only",
        "wait_along",
        "may_raise(&look.lk_end) && sim_engine_run_any(1)",
        "false",
        (SCHEDULE,),
    ),
    # plans kept for clients
    Mutant(
        "plan kept for other addresses",
        "is_described",
        "pack->pk_operands[i].od_data != own->re_addresses[i]",
        "false",
        (PLANS,),
    ),
    Mutant(
        "plan of another operator kept",
        "is_described",
        "strcmp(row->ro_op.op_name, own->re_name) != 0",
        "false",
        (PLANS,),
    ),
    Mutant(
        "hit at the addresses of the plan",
        "sim_plan_cache_find",
        "pack.pk_operands[i].od_data = own->re_addresses[i];",
        ";",
        (PLANS,),
    ),
    Mutant("hit for another number of tensors", "copy_plan", "entry->en_pack.pk_count == tensors", "true", (PLANS,)),
    Mutant("plans outlive a kernel", "sim_row_register", "sim_plan_cache_empty();", "", (PLANS,)),
)
