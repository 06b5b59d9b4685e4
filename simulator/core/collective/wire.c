/* A process publishes a page of the exchange, a board and the file of its device memory. The page wakes others, and
 * tells them when the process has ended. The board has a lane for each other process: a ring of bytes, into which the
 * publisher writes records and from which that process reads them. So there is one writer and one reader, and no lock
 * across processes.
 *
 * Of the memory of a device, the first 1 GiB are mapped, or the first 2, 4, ... GiB for a buffer that ends there: a
 * buffer is always reached by the same mapping, which stays, since it is the first access to a page that costs most.
 *
 * Nothing that another process has written is trusted as a size or an address before it was checked.
 *
 * Wires are slots of a table, because a stream may be parked at the gate of one that has been closed. The group's lock
 * guards everything but the gate (comm.h); before there is a group, the lock of joining does (root.c). */
#include "wire.h"

#include "address/heap.h"
#include "address/memory.h"
#include "base/clock.h"
#include "base/output.h"
#include "base/thread.h"
#include "net.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING (256u << 10) /* bytes; pages that were never written take no memory */
#define FILLER 0          /* the kind of what is between the last record and the end of the ring */
#define SPIN_NS 20000     /* a bell takes longer, as two threads have to be woken for it */
#define VIEW_SHIFT 30     /* log2 of the bytes of the shortest view of a device */

struct lane {
    _Alignas(SIM_LINE) _Atomic uint64_t ln_written;
    _Atomic bool ln_given_up;
    _Alignas(SIM_LINE) _Atomic uint64_t ln_read;
    _Alignas(SIM_LINE) unsigned char ln_bytes[RING];
};

struct sim_board {
    _Atomic uint64_t bo_unused; /* for compilers: a structure has a member beside its array */
    struct lane bo_lanes[];
};

static struct sim_table wires = {
    .tb_stride = sizeof(struct sim_wire), .tb_limit = 1u << 16, .tb_kind = SIM_KIND_WIRE};

static uint64_t board_size(uint32_t count)
{
    return sizeof(struct sim_board) + count * sizeof(struct lane);
}

/* Memory that the child of a fork does not get: it has no communicators. */
static void *map(int file, uint64_t offset, uint64_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, (off_t)offset);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_DONTFORK);
    return at;
}

/* ---- this process ---- */

struct sim_wire *sim_wire_take(void)
{
    uint64_t handle;
    struct sim_wire *wire = sim_table_open(&wires) == 0 ? sim_table_take(&wires, &handle) : NULL;
    if (wire == NULL)
        return NULL;
    wire->wr_count = 0;
    wire->wr_card = (struct sim_wire_card){0};
    wire->wr_page = (struct sim_share){0};
    wire->wr_board = NULL;
    wire->wr_file = -1;
    wire->wr_peers = NULL;
    wire->wr_net = NULL;
    atomic_store_explicit(&wire->wr_slot.sl_handle, handle, memory_order_release);
    return wire;
}

static aclError make_board(struct sim_wire *wire, uint32_t count)
{
    wire->wr_peers = calloc(count, sizeof *wire->wr_peers);
    wire->wr_file = memfd_create("ascend-board", MFD_CLOEXEC);
    if (wire->wr_peers != NULL && wire->wr_file >= 0 && sim_output_resize(wire->wr_file, board_size(count)) == 0)
        wire->wr_board = map(wire->wr_file, 0, board_size(count));
    SIM_CHECK(wire->wr_board != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory that processes can share");
    for (uint32_t place = 0; place < count; place++)
        wire->wr_peers[place].pe_memory = -1;
    wire->wr_count = count;
    return ACL_SUCCESS;
}

static aclError publish_file(int file, uint64_t size, int32_t device, uint64_t shift, uint64_t *id)
{
    const struct sim_offer offer = {.of_kind = SIM_EXCHANGE_GROUP, .of_device = device, .of_file = file,
                                    .of_size = size, .of_extra = {shift}};
    return sim_exchange_publish(&offer, true, id);
}

aclError sim_wire_publish(struct sim_wire *wire, uint32_t count, int32_t device)
{
    const struct sim_zone *zone = &sim_heap_zone_of_device;
    struct sim_wire_card *card = &wire->wr_card;
    SIM_TRY(make_board(wire, count));
    SIM_TRY(publish_file(wire->wr_file, board_size(count), device, 0, &card->wc_board));
    SIM_TRY(publish_file(zone->zn_file, zone->zn_bytes, device, zone->zn_shift, &card->wc_memory));
    return sim_exchange_share_publish(SIM_EXCHANGE_GROUP, device, true, &wire->wr_gate, &card->wc_page,
                                      &wire->wr_page);
}

static void withdraw(uint64_t id)
{
    if (id != 0)
        sim_exchange_withdraw(SIM_EXCHANGE_GROUP, id, "comm");
}

/* Lengths of views of a device. */
static uint32_t lengths_of(const struct sim_wire_peer *peer)
{
    return peer->pe_shift <= VIEW_SHIFT ? 1 : peer->pe_shift - VIEW_SHIFT + 1;
}

static uint64_t views_of(const struct sim_wire_peer *peer)
{
    return (peer->pe_memory_size >> peer->pe_shift) * lengths_of(peer);
}

static uint64_t length_of(const struct sim_wire_peer *peer, uint64_t view)
{
    return UINT64_C(1) << (peer->pe_shift - (lengths_of(peer) - 1 - (uint32_t)(view % lengths_of(peer))));
}

static void close_peer(struct sim_wire_peer *peer)
{
    for (uint64_t view = 0; peer->pe_views != NULL && view < views_of(peer); view++)
        if (peer->pe_views[view] != NULL)
            munmap(peer->pe_views[view], length_of(peer, view));
    free(peer->pe_views);
    if (peer->pe_memory >= 0)
        close(peer->pe_memory);
    if (peer->pe_board != NULL)
        munmap(peer->pe_board, peer->pe_board_size);
    if (peer->pe_page.sr_link != NULL)
        sim_exchange_share_leave(&peer->pe_page);
    memset(peer, 0, sizeof *peer);
    peer->pe_memory = -1;
}

/* Others that still expect something of this process learn that nothing more will come. */
static void give_up_all(struct sim_wire *wire)
{
    for (uint32_t place = 0; place < wire->wr_count; place++)
        atomic_store(&wire->wr_board->bo_lanes[place].ln_given_up, true);
    sim_wire_changed(wire, true);
}

void sim_wire_close(struct sim_wire *wire)
{
    if (wire->wr_net != NULL)
        sim_net_close(wire->wr_net);
    if (wire->wr_page.sr_link != NULL)
        give_up_all(wire);
    withdraw(wire->wr_card.wc_page);
    withdraw(wire->wr_card.wc_board);
    withdraw(wire->wr_card.wc_memory);
    for (uint32_t place = 0; place < wire->wr_count; place++)
        close_peer(&wire->wr_peers[place]);
    if (wire->wr_page.sr_link != NULL)
        sim_exchange_share_leave(&wire->wr_page);
    if (wire->wr_board != NULL)
        munmap(wire->wr_board, board_size(wire->wr_count));
    if (wire->wr_file >= 0)
        close(wire->wr_file);
    free(wire->wr_peers);
    atomic_store_explicit(&wire->wr_slot.sl_handle, 0, memory_order_relaxed);
    sim_table_give(&wires, wire);
}

/* ---- other processes ---- */

static aclError open_files(const struct sim_wire *wire, struct sim_wire_peer *peer, const struct sim_wire_card *card)
{
    struct sim_offer board, memory;
    SIM_TRY(sim_exchange_import(SIM_EXCHANGE_GROUP, card->wc_board, "comm", &board));
    if (board.of_size == board_size(wire->wr_count)) {
        peer->pe_board_size = board.of_size;
        peer->pe_board = map(board.of_file, 0, board.of_size);
    }
    close(board.of_file);
    SIM_CHECK(peer->pe_board != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "the board of a process could not be mapped");
    SIM_TRY(sim_exchange_import(SIM_EXCHANGE_GROUP, card->wc_memory, "comm", &memory));
    peer->pe_memory = memory.of_file;
    peer->pe_memory_size = memory.of_size;
    peer->pe_shift = memory.of_extra[0] % 64;
    peer->pe_views = calloc(views_of(peer), sizeof(char *));
    SIM_CHECK(peer->pe_views != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for a process");
    return ACL_SUCCESS;
}

aclError sim_wire_connect(struct sim_wire *wire, uint32_t place, const struct sim_wire_card *card)
{
    struct sim_wire_peer *peer = &wire->wr_peers[place];
    int32_t device;
    aclError code = sim_exchange_share_join(SIM_EXCHANGE_GROUP, card->wc_page, "comm", &wire->wr_gate, &device,
                                            &peer->pe_page);
    if (code == ACL_SUCCESS)
        code = open_files(wire, peer, card);
    if (code != ACL_SUCCESS)
        close_peer(peer);
    peer->pe_open = code == ACL_SUCCESS;
    return code;
}

void sim_wire_join_net(struct sim_wire *wire, const bool *is_place, struct sim_net *net)
{
    wire->wr_net = net;
    for (uint32_t place = 0; place < wire->wr_count; place++)
        wire->wr_peers[place].pe_open = is_place[place] && place != wire->wr_self;
}

/* ---- records ---- */

static struct lane *outgoing(const struct sim_wire *wire, uint32_t place)
{
    return &wire->wr_board->bo_lanes[place];
}

static struct lane *incoming(const struct sim_wire *wire, uint32_t place)
{
    return &wire->wr_peers[place].pe_board->bo_lanes[wire->wr_self];
}

static struct sim_wire_record *at(struct lane *lane, uint64_t position)
{
    return (struct sim_wire_record *)(void *)(lane->ln_bytes + position % RING);
}

void sim_wire_send(struct sim_wire *wire, uint32_t place, const struct sim_wire_record *record)
{
    if (wire->wr_net != NULL) {
        sim_net_send(wire->wr_net, place, record);
        return;
    }
    struct lane *lane = outgoing(wire, place);
    uint64_t written = atomic_load_explicit(&lane->ln_written, memory_order_relaxed);
    const uint64_t read = atomic_load_explicit(&lane->ln_read, memory_order_acquire), left = RING - written % RING;
    const uint64_t gap = left < record->re_size ? left : 0;
    if (written - read + gap + record->re_size > RING) {
        atomic_store(&lane->ln_given_up, true);
        return;
    }
    if (gap != 0) {
        *at(lane, written) = (struct sim_wire_record){(uint32_t)gap, FILLER};
        written += gap;
    }
    memcpy(at(lane, written), record, record->re_size);
    atomic_store(&lane->ln_written, written + record->re_size); /* before sp_wanted is read, in the order of all */
}

void sim_wire_changed(struct sim_wire *wire, bool at_once)
{
    if (at_once)
        sim_exchange_share_want(&wire->wr_page);
    sim_exchange_share_changed(&wire->wr_page);
}

void sim_wire_next(struct sim_wire *wire, uint32_t place, const struct sim_wire_record *record)
{
    if (wire->wr_net != NULL) {
        sim_net_next(wire->wr_net, place);
        return;
    }
    struct lane *lane = incoming(wire, place);
    atomic_store_explicit(&lane->ln_read, atomic_load_explicit(&lane->ln_read, memory_order_relaxed) + record->re_size,
                          memory_order_release);
}

const struct sim_wire_record *sim_wire_receive(struct sim_wire *wire, uint32_t place)
{
    if (wire->wr_net != NULL)
        return sim_net_receive(wire->wr_net, place);
    struct lane *lane = incoming(wire, place);
    for (;;) {
        const uint64_t read = atomic_load_explicit(&lane->ln_read, memory_order_relaxed);
        const uint64_t here = atomic_load_explicit(&lane->ln_written, memory_order_acquire) - read;
        const struct sim_wire_record *record = at(lane, read - read % 8);
        const uint32_t size = record->re_size;
        if (here == 0)
            return NULL;
        if (here < sizeof *record || here > RING || read % 8 != 0 || size < sizeof *record || size % 8 != 0 ||
            size > here || read % RING + size > RING) {
            atomic_store(&outgoing(wire, place)->ln_given_up, true); /* it is not what a process of ours writes */
            return NULL;
        }
        if (record->re_kind != FILLER)
            return record;
        sim_wire_next(wire, place, record);
    }
}

bool sim_wire_is_lost(const struct sim_wire *wire, uint32_t place)
{
    if (wire->wr_net != NULL)
        return sim_net_is_lost(wire->wr_net, place);
    return sim_exchange_share_is_gone(&wire->wr_peers[place].pe_page, 0) ||
           atomic_load(&outgoing(wire, place)->ln_given_up) || atomic_load(&incoming(wire, place)->ln_given_up);
}

bool sim_wire_has_news(const struct sim_wire *wire)
{
    for (uint32_t place = 0; place < wire->wr_count; place++) {
        if (!wire->wr_peers[place].pe_open)
            continue;
        if (wire->wr_net != NULL && sim_net_has_news(wire->wr_net, place))
            return true;
        if (wire->wr_net != NULL)
            continue;
        const struct lane *lane = incoming(wire, place);
        if (atomic_load(&lane->ln_written) != atomic_load_explicit(&lane->ln_read, memory_order_relaxed) ||
            sim_wire_is_lost(wire, place))
            return true;
    }
    return false;
}

void sim_wire_want(struct sim_wire *wire, uint32_t place)
{
    if (wire->wr_may_spin)
        for (const uint64_t until = sim_clock_now() + SPIN_NS; sim_clock_now() < until && !sim_wire_has_news(wire);)
            ;
    if (wire->wr_peers[place].pe_open && wire->wr_net == NULL) /* a net counts the gate on in any case */
        sim_exchange_share_want(&wire->wr_peers[place].pe_page);
}

/* ---- device memory ---- */

uint64_t sim_wire_offset(const void *address, uint64_t size)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    const bool plain = place.pl_class == SIM_MEMORY_DEVICE && !sim_memory_is_imported(&place) &&
                       sim_heap_zone_contains(&sim_heap_zone_of_device, address) &&
                       sim_memory_holds(&place, address, size);
    return plain ? (uint64_t)(uintptr_t)address - sim_heap_zone_of_device.zn_base : 0;
}

void *sim_wire_reach(struct sim_wire *wire, uint32_t place, uint64_t offset, uint64_t size)
{
    struct sim_wire_peer *peer = &wire->wr_peers[place];
    if (offset == 0 || offset > peer->pe_memory_size || size > peer->pe_memory_size - offset)
        return NULL;
    const uint64_t device = offset >> peer->pe_shift, inside = offset - (device << peer->pe_shift);
    uint64_t view = device * lengths_of(peer);
    if (size > (UINT64_C(1) << peer->pe_shift) - inside)
        return NULL;
    while (length_of(peer, view) < inside + size)
        view++;
    if (peer->pe_views[view] == NULL)
        peer->pe_views[view] = map(peer->pe_memory, device << peer->pe_shift, length_of(peer, view));
    return peer->pe_views[view] != NULL ? peer->pe_views[view] + inside : NULL;
}

/* ---- gates, and the child of a fork ---- */

bool sim_wire_owns(const struct sim_gate *gate)
{
    return sim_table_slot_of(&wires, gate) != NULL;
}

void sim_wire_after_fork(void)
{
    sim_table_empty(&wires);
}
