/* What a rank does is a record on the wire to each other process (wire.h), which applies it to its own state of the
 * group as if the rank were its own: meetings and transfers hardly know the difference. A process applies records only
 * while one of its tasks or calls looks at the group. That is enough, because the others wait for it only in operators
 * that it has not called yet.
 *
 * Inputs and messages of up to 2 KiB travel inside the record. Longer ones are read in the memory of their process, and
 * results are written there. Only blocks of device memory can be reached from outside, so mappings, memory of third
 * processes and registered memory of the host are copied there and back.
 *
 * A record is checked before it is used: it is ignored if a number in it is out of range. */
#include "span.h"

#include "address/memory.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#define TABLES 4
#define MESSAGE_SHORT 2048u /* bytes */
#define INPUT_MOST (UINT64_C(7) << 29) /* bytes that a record carries: its size has 32 bits */

enum kind { ARRIVE = 1, DONE, LEAVE, SEND, TAKE, REFUSE, END, OFFER };

struct head {
    struct sim_wire_record hd_record;
    uint32_t hd_rank, hd_peer; /* whose record it is; hd_peer: the other rank of a message */
    struct sim_meeting_key hd_key;
};

struct place { /* in the device memory of a process */
    uint64_t pl_offset, pl_size;
};

struct arrival {
    struct head ar_head;
    uint32_t ar_kind, ar_type, ar_op, ar_root;
    uint64_t ar_count;
    struct place ar_from, ar_to;
    uint64_t ar_tables; /* one bit per table */
    uint64_t ar_input;  /* bytes */
    unsigned char ar_rest[]; /* the tables, then the input */
};

struct message {
    struct head ms_head;
    uint32_t ms_sends, ms_type;
    uint64_t ms_count;
    struct place ms_from;
    uint64_t ms_is_carried;
    unsigned char ms_rest[]; /* the message */
};

struct failure { /* of a meeting, or of a message that was or was not sent */
    struct head fl_head;
    uint32_t fl_sends;
    int32_t fl_code;
    char fl_text[SIM_COMM_TEXT];
};

struct offer {
    struct head of_head;
    uint64_t of_number;
    struct sim_root_place of_place;
};

static size_t whole(size_t size)
{
    return (size + 7) / 8 * 8;
}

static struct head head(enum kind kind, size_t size, uint32_t rank, struct sim_meeting_key key)
{
    return (struct head){{(uint32_t)whole(size), kind}, rank, 0, key};
}

bool sim_span_is_here(const struct sim_comm_group *group, uint32_t rank)
{
    return group->gp_wire == NULL || group->gp_ranks[rank].rk_place == group->gp_wire->wr_self;
}

bool sim_span_carries(const struct sim_comm_group *group, const struct sim_collective_work *work)
{
    return group->gp_wire != NULL && (group->gp_wire->wr_net != NULL || sim_collective_is_short(work));
}

/* ---- memory ---- */

aclError sim_span_lend(struct sim_comm_seat seat, struct sim_range *range, void **scratch)
{
    const uint64_t size = sim_memory_whole(range->rg_size);
    struct sim_policy policy = sim_memory_huge_first(size);
    if (seat.se_group->gp_wire == NULL || range->rg_size == 0 ||
        sim_wire_offset(range->rg_address, range->rg_size) != 0)
        return ACL_SUCCESS;
    *scratch = sim_memory_try_allocate(seat.se_group->gp_ranks[seat.se_rank].rk_device, size, size, &policy);
    if (*scratch == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    memcpy(sim_memory_reach(*scratch), sim_memory_reach(range->rg_address), range->rg_size);
    range->rg_address = *scratch;
    return ACL_SUCCESS;
}

void sim_span_reclaim(const struct sim_range *range, bool is_result, void **scratch)
{
    if (*scratch == NULL)
        return;
    if (is_result)
        memcpy(sim_memory_reach(range->rg_address), sim_memory_reach(*scratch), range->rg_size);
    sim_memory_release(*scratch, NULL);
    *scratch = NULL;
}

/* ---- telling ---- */

static void tell(struct sim_comm_group *group, uint32_t place, const struct head *record)
{
    if (group->gp_wire->wr_peers[place].pe_open)
        sim_wire_send(group->gp_wire, place, &record->hd_record);
}

static void tell_all(struct sim_comm_group *group, const struct head *record, bool at_once)
{
    for (uint32_t place = 0; place < group->gp_count; place++)
        tell(group, place, record);
    sim_wire_changed(group->gp_wire, at_once);
}

static void tell_rank(struct sim_comm_group *group, uint32_t rank, const struct head *record, bool at_once)
{
    tell(group, group->gp_ranks[rank].rk_place, record);
    sim_wire_changed(group->gp_wire, at_once);
}

static struct place locate(const struct sim_range *range)
{
    return (struct place){range->rg_size != 0 ? sim_wire_offset(range->rg_address, range->rg_size) : 0, range->rg_size};
}

/* Points the tables of a part to those of a record, and its input to what the record carries. */
static void unpack(const struct sim_comm_group *group, struct arrival *record, struct sim_collective_part *part)
{
    const uint64_t **const tables[TABLES] = {&part->sp_from_counts, &part->sp_from_starts, &part->sp_to_counts,
                                             &part->sp_to_starts};
    unsigned char *at = record->ar_rest;
    for (unsigned i = 0; i < TABLES; i++) {
        const bool is_there = (record->ar_tables >> i & 1) != 0;
        *tables[i] = is_there ? (const uint64_t *)(void *)at : NULL;
        at += is_there ? group->gp_count * sizeof(uint64_t) : 0;
    }
    part->sp_from = at;
}

static struct arrival *make_arrival(struct sim_comm_seat seat, struct sim_meeting_key key,
                                    const struct sim_collective_work *work, const struct sim_collective_part *part)
{
    const uint64_t *const tables[TABLES] = {part->sp_from_counts, part->sp_from_starts, part->sp_to_counts,
                                            part->sp_to_starts};
    const uint64_t input = sim_span_carries(seat.se_group, work) ? sim_collective_input(work, seat.se_rank, part) : 0;
    const size_t bytes = work->wo_ranks * sizeof(uint64_t);
    struct arrival *record = input <= INPUT_MOST ? calloc(1, sizeof *record + TABLES * bytes + whole(input)) : NULL;
    if (record == NULL)
        return NULL;
    unsigned char *at = record->ar_rest;
    for (unsigned i = 0; i < TABLES; i++)
        if (tables[i] != NULL) {
            memcpy(at, tables[i], bytes);
            at += bytes;
            record->ar_tables |= 1u << i;
        }
    if (input != 0)
        memcpy(at, work->wo_kind == SIM_BROADCAST ? part->sp_to : part->sp_from, input);
    record->ar_head = head(ARRIVE, (size_t)(at + input - (unsigned char *)record), seat.se_rank, key);
    record->ar_kind = work->wo_kind;
    record->ar_type = work->wo_type;
    record->ar_op = work->wo_op;
    record->ar_root = work->wo_root;
    record->ar_count = work->wo_count;
    record->ar_input = input;
    return record;
}

aclError sim_span_arrive(struct sim_comm_seat seat, struct sim_meeting_key key, const struct sim_collective_work *work,
                         const struct sim_range ranges[2], struct sim_collective_part *part, void **copy)
{
    if (seat.se_group->gp_wire == NULL)
        return ACL_SUCCESS;
    struct arrival *record = make_arrival(seat, key, work, part);
    if (record == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    const bool carries = sim_span_carries(seat.se_group, work);
    if (!carries) {
        record->ar_from = locate(&ranges[0]);
        record->ar_to = locate(&ranges[1]);
    }
    tell_all(seat.se_group, &record->ar_head, false);
    if (carries) {
        unpack(seat.se_group, record, part);
        *copy = record;
    } else {
        free(record);
    }
    return ACL_SUCCESS;
}

void sim_span_done(struct sim_comm_group *group, uint32_t rank, struct sim_meeting_key key)
{
    const struct head record = head(DONE, sizeof record, rank, key);
    if (group->gp_wire != NULL)
        tell_all(group, &record, false);
}

static struct failure make_failure(enum kind kind, uint32_t rank, struct sim_meeting_key key,
                                   const struct sim_comm_outcome *outcome)
{
    struct failure record = {.fl_head = head(kind, sizeof record, rank, key), .fl_code = outcome->oc_code};
    memcpy(record.fl_text, outcome->oc_text, sizeof record.fl_text);
    return record;
}

void sim_span_leave(struct sim_comm_group *group, uint32_t rank, struct sim_meeting_key key,
                    const struct sim_comm_outcome *outcome)
{
    if (group->gp_wire == NULL)
        return;
    const struct failure record = make_failure(LEAVE, rank, key, outcome);
    tell_all(group, &record.fl_head, true);
}

static struct sim_meeting_key key_of(const struct sim_transfer_post *post)
{
    return (struct sim_meeting_key){post->po_recorded, post->po_number};
}

aclError sim_span_send(struct sim_comm_seat seat, const struct sim_transfer_post *post, struct sim_range *range,
                       void **scratch)
{
    struct sim_comm_group *group = seat.se_group;
    const bool carries = group->gp_wire->wr_net != NULL || post->po_bytes <= MESSAGE_SHORT;
    const size_t size = sizeof(struct message) + (carries ? post->po_bytes : 0);
    struct message *record = size <= INPUT_MOST ? malloc(whole(size)) : NULL;
    aclError code = record == NULL ? ACL_ERROR_RT_MEMORY_ALLOCATION
                                   : carries ? ACL_SUCCESS : sim_span_lend(seat, range, scratch);
    if (code == ACL_SUCCESS) {
        *record = (struct message){.ms_head = head(SEND, size, post->po_rank, key_of(post)), .ms_sends = true,
                                   .ms_type = post->po_type, .ms_count = post->po_count, .ms_is_carried = carries};
        record->ms_head.hd_peer = post->po_peer;
        record->ms_from = locate(range);
        if (carries && post->po_bytes != 0)
            memcpy(record->ms_rest, post->po_buffer, post->po_bytes);
        tell_rank(group, post->po_peer, &record->ms_head, false);
    }
    free(record);
    return code;
}

void sim_span_take(struct sim_comm_group *group, const struct sim_transfer_post *post)
{
    struct head record = head(TAKE, sizeof record, post->po_rank, key_of(post));
    record.hd_peer = post->po_peer;
    tell_rank(group, post->po_peer, &record, false);
}

void sim_span_refuse(struct sim_comm_group *group, const struct sim_transfer_post *post,
                     const struct sim_comm_outcome *outcome)
{
    struct failure record = make_failure(REFUSE, post->po_rank, key_of(post), outcome);
    record.fl_head.hd_peer = post->po_peer;
    record.fl_sends = post->po_sends;
    tell_rank(group, post->po_peer, &record.fl_head, true);
}

void sim_span_end(struct sim_comm_group *group, uint32_t rank)
{
    const struct head record = head(END, sizeof record, rank, (struct sim_meeting_key){0, 0});
    if (group->gp_wire != NULL)
        tell_all(group, &record, true);
}

void sim_span_offer(struct sim_comm_group *group, uint32_t count, const uint32_t *members, uint64_t number,
                    const struct sim_root_place *root)
{
    const struct offer record = {head(OFFER, sizeof record, members[0], (struct sim_meeting_key){0, 0}), number, *root};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = group->gp_ranks[members[i]].rk_place;
        bool told = false;
        for (uint32_t before = 0; before < i && !told; before++)
            told = group->gp_ranks[members[before]].rk_place == place;
        if (!told)
            tell(group, place, &record.of_head);
    }
    sim_wire_changed(group->gp_wire, true);
}

/* ---- applying ---- */

static void *reach(struct sim_comm_group *group, uint32_t rank, struct place place, bool *is_there)
{
    if (place.pl_size == 0)
        return NULL;
    void *address = sim_wire_reach(group->gp_wire, group->gp_ranks[rank].rk_place, place.pl_offset, place.pl_size);
    *is_there &= address != NULL;
    return address;
}

/* The operator of an arrival, without its parts. False: the record is wrong. */
static bool read_work(const struct sim_comm_group *group, const struct arrival *record,
                      struct sim_collective_work *work)
{
    *work = (struct sim_collective_work){(enum sim_collective_kind)record->ar_kind, (HcclDataType)record->ar_type,
                                         (HcclReduceOp)record->ar_op, record->ar_root, group->gp_count,
                                         record->ar_count, NULL};
    const size_t tables = (size_t)__builtin_popcountll(record->ar_tables) * group->gp_count * sizeof(uint64_t);
    return record->ar_kind < SIM_COLLECTIVE_KINDS && sim_collective_type_size(work->wo_type) != 0 &&
           record->ar_root < group->gp_count && record->ar_tables >> TABLES == 0 && record->ar_input <= INPUT_MOST &&
           record->ar_head.hd_record.re_size == whole(sizeof *record + tables + record->ar_input);
}

static void apply_arrival(struct sim_comm_group *group, uint32_t rank, const struct arrival *given)
{
    struct sim_collective_work work;
    struct sim_collective_part part;
    if (given->ar_head.hd_record.re_size < sizeof *given || !read_work(group, given, &work))
        return;
    struct sim_meeting *meeting = sim_meeting_find(group, given->ar_head.hd_key);
    if (meeting == NULL || meeting->mt_outcome.oc_code != ACL_SUCCESS ||
        meeting->mt_phases[rank] != SIM_MEETING_ABSENT)
        return;
    struct arrival *record = malloc(given->ar_head.hd_record.re_size);
    bool is_there = record != NULL;
    if (is_there) {
        memcpy(record, given, given->ar_head.hd_record.re_size);
        unpack(group, record, &part);
        if (!sim_span_carries(group, &work))
            part.sp_from = reach(group, rank, record->ar_from, &is_there);
        else if (record->ar_input != sim_collective_input(&work, rank, &part))
            is_there = false;
        part.sp_to = reach(group, rank, record->ar_to, &is_there);
    }
    if (is_there) {
        sim_meeting_arrive(group, meeting, rank, &work, &part, record);
        return;
    }
    free(record);
    SIM_MEETING_FAIL(group, meeting, ACL_ERROR_RT_MEMORY_ALLOCATION, "the memory of rank %u could not be mapped", rank);
}

static void apply_done(struct sim_comm_group *group, uint32_t rank, const struct head *record)
{
    struct sim_meeting *meeting = sim_meeting_peek(group, record->hd_key);
    if (meeting != NULL && meeting->mt_phases[rank] == SIM_MEETING_ARRIVED)
        sim_meeting_finish(group, meeting, rank);
}

static void read_outcome(const struct failure *record, struct sim_comm_outcome *outcome)
{
    outcome->oc_code = record->fl_code;
    memcpy(outcome->oc_text, record->fl_text, sizeof outcome->oc_text);
    outcome->oc_text[sizeof outcome->oc_text - 1] = '\0';
}

static void apply_leave(struct sim_comm_group *group, uint32_t rank, const struct failure *record)
{
    struct sim_comm_outcome outcome;
    struct sim_meeting *meeting = sim_meeting_find(group, record->fl_head.hd_key);
    if (meeting == NULL)
        return;
    read_outcome(record, &outcome);
    SIM_MEETING_FAIL(group, meeting, outcome.oc_code, "%s", outcome.oc_text);
    sim_meeting_leave(group, meeting, rank);
}

static struct sim_transfer_post post_of(const struct head *record, bool sends)
{
    return (struct sim_transfer_post){.po_rank = record->hd_rank, .po_peer = record->hd_peer, .po_sends = sends,
                                      .po_recorded = record->hd_key.mk_recorded,
                                      .po_number = record->hd_key.mk_number};
}

static void apply_message(struct sim_comm_group *group, const struct message *record)
{
    struct sim_transfer_post post = post_of(&record->ms_head, true);
    bool is_there = true;
    post.po_type = (HcclDataType)record->ms_type;
    post.po_count = record->ms_count;
    post.po_bytes = record->ms_from.pl_size;
    if (record->ms_is_carried != 0) {
        if (post.po_bytes > record->ms_head.hd_record.re_size - sizeof *record)
            return;
        post.po_buffer = record->ms_rest;
    } else {
        post.po_buffer = reach(group, post.po_rank, record->ms_from, &is_there);
    }
    sim_transfer_come(group, &post, record->ms_is_carried != 0);
}

static void apply_failed_message(struct sim_comm_group *group, const struct failure *record)
{
    const struct sim_transfer_post post = post_of(&record->fl_head, record->fl_sends != 0);
    struct sim_comm_outcome outcome;
    read_outcome(record, &outcome);
    sim_transfer_refused(group, &post, &outcome);
}

static void apply_offer(struct sim_comm_group *group, const struct offer *record)
{
    struct sim_comm_offer *offer = malloc(sizeof *offer);
    if (offer == NULL)
        return; /* joining ends at its time-out */
    *offer = (struct sim_comm_offer){group->gp_offers, record->of_number, record->of_place};
    group->gp_offers = offer;
}

/* A rank of another process is not in the group any more. */
static void part_with(struct sim_comm_group *group, uint32_t rank, bool is_lost)
{
    if (group->gp_ranks[rank].rk_left)
        return;
    group->gp_ranks[rank].rk_left = true;
    group->gp_ranks[rank].rk_is_lost = is_lost;
    sim_meeting_leave_all(group, rank);
    sim_transfer_leave_all(group, rank);
}

static void apply_end(struct sim_comm_group *group, uint32_t rank)
{
    const uint32_t place = group->gp_ranks[rank].rk_place;
    bool stays = false;
    part_with(group, rank, false);
    for (uint32_t other = 0; other < group->gp_count; other++)
        stays |= group->gp_ranks[other].rk_place == place && !group->gp_ranks[other].rk_left;
    if (!stays)
        group->gp_wire->wr_peers[place].pe_open = false;
}

static void apply(struct sim_comm_group *group, uint32_t place, const struct head *record)
{
    static const size_t sizes[] = {
        [ARRIVE] = sizeof(struct arrival), [DONE] = sizeof(struct head),      [LEAVE] = sizeof(struct failure),
        [SEND] = sizeof(struct message),   [TAKE] = sizeof(struct head),      [REFUSE] = sizeof(struct failure),
        [END] = sizeof(struct head),       [OFFER] = sizeof(struct offer),
    };
    const uint32_t kind = record->hd_record.re_kind, size = record->hd_record.re_size, rank = record->hd_rank;
    if (kind >= sizeof sizes / sizeof *sizes || size < sizes[kind] || rank >= group->gp_count ||
        record->hd_peer >= group->gp_count || group->gp_ranks[rank].rk_place != place)
        return;
    switch ((enum kind)kind) {
    case ARRIVE:
        apply_arrival(group, rank, (const struct arrival *)record);
        break;
    case DONE:
        apply_done(group, rank, record);
        break;
    case LEAVE:
        apply_leave(group, rank, (const struct failure *)record);
        break;
    case SEND:
        apply_message(group, (const struct message *)record);
        break;
    case TAKE: {
        const struct sim_transfer_post post = post_of(record, false);
        sim_transfer_received(group, &post);
        break;
    }
    case REFUSE:
        apply_failed_message(group, (const struct failure *)record);
        break;
    case END:
        apply_end(group, rank);
        break;
    case OFFER:
        apply_offer(group, (const struct offer *)record);
        break;
    }
}

/* What a lost process has sent before is applied first: it may have ended in the right way. */
static void receive_from(struct sim_comm_group *group, uint32_t place)
{
    struct sim_wire *wire = group->gp_wire;
    const bool is_lost = sim_wire_is_lost(wire, place);
    const struct sim_wire_record *record;
    while (wire->wr_peers[place].pe_open && (record = sim_wire_receive(wire, place)) != NULL) {
        apply(group, place, (const struct head *)record);
        sim_wire_next(wire, place, record);
        sim_comm_changed(group, &wire->wr_gate);
    }
    if (!is_lost || !wire->wr_peers[place].pe_open)
        return;
    wire->wr_peers[place].pe_open = false;
    for (uint32_t rank = 0; rank < group->gp_count; rank++)
        if (group->gp_ranks[rank].rk_place == place)
            part_with(group, rank, true);
    sim_comm_changed(group, &wire->wr_gate);
}

void sim_span_receive(struct sim_comm_group *group)
{
    for (uint32_t place = 0; group->gp_wire != NULL && place < group->gp_count; place++)
        if (group->gp_wire->wr_peers[place].pe_open)
            receive_from(group, place);
}

bool sim_span_has_news(struct sim_comm_group *group, uint32_t missing)
{
    if (group->gp_wire == NULL)
        return false;
    if (sim_wire_has_news(group->gp_wire))
        return true;
    sim_wire_want(group->gp_wire, group->gp_ranks[missing].rk_place);
    return sim_wire_has_news(group->gp_wire);
}
