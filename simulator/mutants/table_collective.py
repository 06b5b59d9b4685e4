"""The mutants of collective communication: arrivals, reductions, offsets, messages, groups of calls, failures."""

from __future__ import annotations

from table import Mutant

COLLECTIVE, FAIL, PROCESSES = "test_collective", "test_collective_fail", "test_collective_process"
LOBBY, NET = "test_lobby", "test_net"

COLLECTIVE_MUTANTS = (
    # meetings
    Mutant(
        "last arrival wakes nobody",
        "sim_meeting_arrive",
        "sim_comm_changed(group, &meeting->mt_gate);",
        "",
        (COLLECTIVE,),
    ),
    Mutant(
        "work before the last arrival",
        "advance",
        "meeting->mt_arrived == group->gp_count &&",
        "meeting->mt_arrived + 1 >= group->gp_count &&",
        (COLLECTIVE,),
    ),
    Mutant(
        "end before the last share", "sim_meeting_is_over", "meeting->mt_done == group->gp_count", "true", (COLLECTIVE,)
    ),
    Mutant(
        "all operators meet at one place",
        "sim_meeting_peek",
        "meeting->mt_key.mk_number != key.mk_number",
        "false",
        (COLLECTIVE,),
    ),
    Mutant(
        "recorded operators meet called ones",
        "sim_meeting_peek",
        "meeting->mt_key.mk_recorded != key.mk_recorded",
        "false",
        (COLLECTIVE,),
    ),
    Mutant(
        "a meeting ends before its last rank",
        "sim_meeting_leave",
        "meeting->mt_left_here < group->gp_here",
        "meeting->mt_left_here < group->gp_here - (group->gp_here > 1)",
        (COLLECTIVE,),
    ),
    Mutant(
        "last share wakes nobody",
        "sim_meeting_finish",
        "sim_comm_changed(group, &meeting->mt_gate)",
        "(void)0",
        (COLLECTIVE,),
    ),
    # the work
    Mutant(
        "a rank missing in a reduction",
        "reduce",
        "rank < work->wo_ranks",
        "rank < work->wo_ranks - (work->wo_ranks > 2)",
        (COLLECTIVE,),
    ),
    Mutant(
        "reduction from the last rank on",
        "reduce",
        "work->wo_parts[rank].sp_from",
        "work->wo_parts[work->wo_ranks - 1 - rank].sp_from",
        (COLLECTIVE,),
    ),
    Mutant(
        "shares without the last elements",
        "share_start",
        "rank == work->wo_ranks ? work->wo_count",
        "rank > work->wo_ranks ? work->wo_count",
        (COLLECTIVE,),
    ),
    Mutant(
        "all-reduce for the root alone",
        "reduce_share",
        "work->wo_kind == SIM_ALL_REDUCE",
        "work->wo_kind == SIM_REDUCE",
        (COLLECTIVE,),
    ),
    Mutant("broadcast to the first ranks", "broadcast_share", "other < work->wo_ranks", "other < 2", (COLLECTIVE,)),
    Mutant(
        "gathered at the wrong offset", "gather_share", "rank * work->wo_count", "other * work->wo_count", (COLLECTIVE,)
    ),
    Mutant(
        "exchanged from the wrong offset",
        "exchange_share",
        "rank * work->wo_count",
        "other * work->wo_count",
        (COLLECTIVE,),
    ),
    Mutant(
        "scattered from the first block",
        "sim_collective_work",
        "sp_from, rank * work->wo_count",
        "sp_from, 0",
        (COLLECTIVE,),
    ),
    # messages
    Mutant("messages in the reverse order", "find", "message->me_number == post->po_number", "true", (COLLECTIVE,)),
    Mutant("messages from any rank", "find", "message->me_peer == post->po_peer", "true", (COLLECTIVE,)),
    Mutant(
        "the other side goes on waiting", "copy", "sim_comm_changed(group, &partner->tf_gate)", "(void)0", (COLLECTIVE,)
    ),
    Mutant("a message ends on one side", "copy", "partner->tf_left--;", "", (COLLECTIVE,)),
    Mutant("messages of other types meet", "meet", "|| other->me_type != mine->me_type", "", (FAIL,)),
    Mutant("a message meets a discarded one", "meet", "partner->tf_outcome.oc_code != ACL_SUCCESS", "false", (FAIL,)),
    Mutant(
        "a rank that leaves is waited for",
        "sim_transfer_leave_all",
        "each->tf_messages[i].me_peer == rank",
        "false",
        (FAIL,),
    ),
    # groups of calls, creation
    Mutant("an inner group acts", "sim_batch_end", "--batch.depth != 0", "(batch.depth = 0) != 0", (COLLECTIVE,)),
    Mutant(
        "a rank that joins is not counted",
        "leave_card",
        "atomic_fetch_add(word(root, JOINED), 1)",
        "atomic_fetch_add(word(root, JOINED), 0)",
        (COLLECTIVE,),
    ),
    Mutant(
        "a creation that failed succeeds",
        "sim_root_wait",
        "state == COMPLETE ? root->ro_result : report(root, state)",
        "root->ro_result",
        (FAIL,),
    ),
    # failures
    Mutant("differing arguments meet", "compare", "pairs[i].mine != pairs[i].expected", "false", (FAIL,)),
    Mutant("differing functions meet", "compare", "work->wo_kind != first->wo_kind", "false", (FAIL,)),
    Mutant("differing tables meet", "compare_tables", "sent != expected", "false", (FAIL,)),
    Mutant(
        "differing offsets meet",
        "compare_blocks",
        "memcmp(part->sp_from_starts, first->sp_from_starts, bytes) != 0",
        "false",
        (FAIL,),
    ),
    Mutant(
        "a discarded operator is waited for",
        "drop",
        'SIM_MEETING_FAIL(seat.se_group, meeting, ACL_ERROR_RT_SOCKET_CLOSE, "the operator of rank %u was discarded", '
        "seat.se_rank);",
        "",
        (FAIL,),
    ),
    Mutant(
        "a destroyed communicator is waited for",
        "sim_meeting_leave_all",
        "meeting->mt_phases[rank] < SIM_MEETING_DONE",
        "false",
        (FAIL,),
    ),
    Mutant("a rank that has left is waited for", "begin", "group->gp_ranks[rank].rk_left", "false", (FAIL,)),
    Mutant("no time-out", "advance", "!sim_comm_is_late(run, &task->ct_wait)", "true", (FAIL,)),
    Mutant(
        "the wrong rank is named",
        "sim_meeting_missing",
        "meeting->mt_phases[rank] == SIM_MEETING_ABSENT",
        "false",
        (FAIL,),
    ),
    Mutant(
        "wrong arguments end the communicator",
        "sim_comm_give_up",
        "outcome.oc_code != ACL_ERROR_RT_PARAM_INVALID",
        "true",
        (FAIL,),
    ),
    Mutant("suspended and called", "sim_comm_check_suspended", "!rank->rk_suspended", "true", (FAIL,)),
    Mutant("resumed where each rank was", "next_epoch", "(number / EPOCH + 1) * EPOCH", "number", (FAIL,)),
    # several processes
    Mutant(
        "a process does not say that it waits for another",
        "sim_wire_want",
        "sim_exchange_share_want(&wire->wr_peers[place].pe_page);",
        "(void)wire;",
        (PROCESSES,),
    ),
    Mutant(
        "a parked rank waits for one change too many",
        "sim_comm_park",
        "+= group->gp_changed_count",
        "+= group->gp_changed_count + 1",
        (PROCESSES,),
    ),
    # several hosts
    Mutant("a stranger is welcome", "is_welcome", "hello->lo_secret[1] == place->pl_secret[1]", "true", (LOBBY,)),
    Mutant(
        "a guest that has ended keeps its place",
        "free_guest",
        "lobby->lb_guests[i].gu_socket >= 0",
        "true",
        (LOBBY,),
    ),
    Mutant(
        "the last change is not told",
        "tell_all",
        "lobby->lb_calls->lc_await(lobby->lb_root, &level);",
        "lobby->lb_calls->lc_await(lobby->lb_root, &level);\nif (atomic_load(&lobby->lb_ends))\nbreak;",
        (LOBBY,),
    ),
    Mutant("a process that fails to connect is waited for", "part", "lobby->lb_is_broken = true;", "", (LOBBY,)),
    Mutant("a port is left out", "sim_host_next_port", "ports->po_first++", "ports->po_first += 2", (LOBBY,)),
    Mutant("a net ends with records to send", "next_to_send", "parcel != NULL || ends", "ends", (NET,)),
    Mutant("a closed net is not lost", "receive_all", "lose(lane);", "", (NET,)),
    Mutant("a net waits for others for ever", "sim_net_close", "now >= deadline", "false", (NET,)),
)
