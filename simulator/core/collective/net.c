/* Each connection has two threads, since the plugin's calls wait: one sends what is queued, the other one receives. A
 * record without bytes, which is none, says that nothing more will come; closing waits for those of the others, because
 * bytes that are still on their way are lost when a socket is closed.
 *
 * The lock of a lane guards its two lists. A place that fails once is lost for ever; what had arrived before stays.
 *
 * The threads block all signals (sim_thread_start), as the plugin wants it. */
#include "net.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/thread.h"
#include "comm_config.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN "libacl_hccl_net.so"
/* PyTorch exports the symbols of its own Gloo, which must not be taken. Sanitizers refuse RTLD_DEEPBIND. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#else
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif
#define LINGER_NS UINT64_C(2000000000) /* how long closing waits for the others */

struct parcel {
    struct parcel *pa_next;
    struct sim_wire_record *pa_record;
};

struct list {
    struct parcel *li_first, **li_end;
};

struct lane {
    struct sim_net *ln_net;
    uint32_t ln_member; /* its number for the plugin */
    bool ln_is_open;    /* there is another process at this place */
    pthread_t ln_sender, ln_receiver;
    _Atomic uint32_t ln_queued; /* the sender sleeps here */
    _Atomic bool ln_is_lost;
    struct sim_lock ln_lock;
    struct list ln_out, ln_in;
};

struct sim_net {
    struct acl_hccl_mesh *nt_mesh;
    struct sim_gate *nt_gate;
    _Atomic bool nt_closing;
    _Atomic uint32_t nt_running; /* threads; closing sleeps here */
    uint32_t nt_count;
    struct lane nt_lanes[]; /* by place */
};

/* ---- the plugin ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct acl_hccl_net *plugin; /* NULL: it cannot be opened */
static char why_not[ACL_HCCL_NET_TEXT];

static void open_plugin(void)
{
    char path[4096];
    Dl_info own;
    const struct acl_hccl_net *(*get)(void) = NULL;
    const char *end = dladdr(&once, &own) != 0 && own.dli_fname != NULL ? strrchr(own.dli_fname, '/') : NULL;
    snprintf(path, sizeof path, "%.*s" PLUGIN, end != NULL ? (int)(end + 1 - own.dli_fname) : 0,
             end != NULL ? own.dli_fname : "");
    void *library = dlopen(path, OPEN_FLAGS);
    if (library != NULL)
        *(void **)&get = dlsym(library, "acl_hccl_net");
    if (get != NULL && get()->version == ACL_HCCL_NET_VERSION)
        plugin = get();
    else
        snprintf(why_not, sizeof why_not, "%s", get != NULL ? "it is of another version" : dlerror());
}

bool sim_net_is_there(void)
{
    pthread_once(&once, open_plugin);
    return plugin != NULL;
}

HcclResult sim_net_check(void)
{
    SIM_ARGUMENT(sim_net_is_there(), HCCL_E_NOT_SUPPORT,
                 "the ranks are on several hosts, for which the simulator needs " PLUGIN " (%s): install Gloo's "
                 "development package (apt install libgloo-dev) and build the simulator again", why_not);
    return HCCL_SUCCESS;
}

/* ---- lists ---- */

/* Takes over the record. False without memory. */
static bool append(struct lane *lane, struct list *list, struct sim_wire_record *record)
{
    struct parcel *parcel = malloc(sizeof *parcel);
    if (parcel == NULL) {
        free(record);
        return false;
    }
    *parcel = (struct parcel){NULL, record};
    sim_lock(&lane->ln_lock);
    *list->li_end = parcel;
    list->li_end = &parcel->pa_next;
    sim_unlock(&lane->ln_lock);
    return true;
}

static struct parcel *first(struct lane *lane, const struct list *list)
{
    sim_lock(&lane->ln_lock);
    struct parcel *parcel = list->li_first;
    sim_unlock(&lane->ln_lock);
    return parcel;
}

/* Frees the first record of a list that has one. */
static void remove_first(struct lane *lane, struct list *list)
{
    sim_lock(&lane->ln_lock);
    struct parcel *parcel = list->li_first;
    list->li_first = parcel->pa_next;
    if (list->li_first == NULL)
        list->li_end = &list->li_first;
    sim_unlock(&lane->ln_lock);
    free(parcel->pa_record);
    free(parcel);
}

/* ---- threads ---- */

static void wake(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    sim_futex_wake(word, 1);
}

static void mark_lost(struct lane *lane)
{
    atomic_store(&lane->ln_is_lost, true);
    wake(&lane->ln_queued);
}

/* Not with the group's lock held: counting a gate on may run a stream. */
static void lose(struct lane *lane)
{
    mark_lost(lane);
    sim_gate_count(lane->ln_net->nt_gate);
}

static void end_thread(struct sim_net *net)
{
    atomic_fetch_sub(&net->nt_running, 1);
    sim_futex_wake(&net->nt_running, 1);
}

/* The next record to send, or NULL when nothing more is to be sent. */
static struct parcel *next_to_send(struct lane *lane)
{
    for (;;) {
        const uint32_t seen = atomic_load(&lane->ln_queued);
        const bool ends = atomic_load(&lane->ln_net->nt_closing);
        struct parcel *parcel = first(lane, &lane->ln_out);
        if (parcel != NULL || ends || atomic_load(&lane->ln_is_lost))
            return parcel;
        sim_futex_wait(&lane->ln_queued, seen, SIM_FOREVER);
    }
}

static void *send_all(void *argument)
{
    struct lane *lane = argument;
    struct acl_hccl_mesh *mesh = lane->ln_net->nt_mesh;
    char why[ACL_HCCL_NET_TEXT];
    struct parcel *parcel;
    while (!atomic_load(&lane->ln_is_lost) && (parcel = next_to_send(lane)) != NULL) {
        if (plugin->send(mesh, lane->ln_member, parcel->pa_record, parcel->pa_record->re_size, why) != 0)
            lose(lane);
        remove_first(lane, &lane->ln_out);
    }
    if (!atomic_load(&lane->ln_is_lost))
        plugin->send(mesh, lane->ln_member, NULL, 0, why);
    end_thread(lane->ln_net);
    return NULL;
}

/* Takes over what has arrived. False: it is the last. */
static bool take_in(struct lane *lane, void *bytes, uint64_t size)
{
    struct sim_wire_record *record = bytes;
    const bool is_record = size >= sizeof *record && record->re_size == size && size % 8 == 0;
    if (!is_record) {
        free(bytes);
        return false;
    }
    return append(lane, &lane->ln_in, record);
}

static void *receive_all(void *argument)
{
    struct lane *lane = argument;
    char why[ACL_HCCL_NET_TEXT];
    void *bytes;
    uint64_t size;
    while (plugin->receive(lane->ln_net->nt_mesh, lane->ln_member, &bytes, &size, why) == 0 &&
           take_in(lane, bytes, size))
        sim_gate_count(lane->ln_net->nt_gate);
    lose(lane);
    end_thread(lane->ln_net);
    return NULL;
}

static bool start(struct lane *lane)
{
    struct sim_net *net = lane->ln_net;
    atomic_fetch_add(&net->nt_running, 1);
    if (sim_thread_start(&lane->ln_sender, send_all, lane) != 0) {
        end_thread(net);
        return false;
    }
    lane->ln_is_open = true;
    atomic_fetch_add(&net->nt_running, 1);
    if (sim_thread_start(&lane->ln_receiver, receive_all, lane) == 0)
        return true;
    end_thread(net);
    lose(lane);
    pthread_join(lane->ln_sender, NULL);
    lane->ln_is_open = false;
    return false;
}

/* ---- opening and closing ---- */

struct opening {
    struct sim_net *op_net;
    uint32_t op_member, op_members;
    const char *op_address;
    const struct acl_hccl_store *op_store;
    char op_why[ACL_HCCL_NET_TEXT];
};

/* In a thread of its own, because the plugin's threads inherit its signal mask. */
static void *connect_mesh(void *argument)
{
    struct opening *opening = argument;
    opening->op_net->nt_mesh = plugin->open(opening->op_member, opening->op_members, opening->op_address,
                                            opening->op_store, sim_comm_connect_timeout() / 1000000u, opening->op_why);
    return NULL;
}

HcclResult sim_net_open(uint32_t count, const bool *is_place, uint32_t self, const char *address,
                        const struct acl_hccl_store *store, struct sim_gate *gate, struct sim_net **result)
{
    struct sim_net *net = calloc(1, sizeof *net + count * sizeof *net->nt_lanes);
    struct opening opening = {.op_net = net, .op_address = address, .op_store = store};
    pthread_t thread;
    SIM_ARGUMENT(net != NULL, HCCL_E_MEMORY, "there is no memory for connections to other hosts");
    net->nt_gate = gate;
    net->nt_count = count;
    for (uint32_t place = 0; place < count; place++) {
        struct lane *lane = &net->nt_lanes[place];
        lane->ln_net = net;
        lane->ln_out.li_end = &lane->ln_out.li_first;
        lane->ln_in.li_end = &lane->ln_in.li_first;
        if (place == self)
            opening.op_member = opening.op_members;
        if (is_place[place])
            lane->ln_member = opening.op_members++;
    }
    if (sim_thread_start(&thread, connect_mesh, &opening) == 0)
        pthread_join(thread, NULL);
    bool started = net->nt_mesh != NULL;
    for (uint32_t place = 0; place < count && started; place++)
        started = !is_place[place] || place == self || start(&net->nt_lanes[place]);
    if (started) {
        *result = net;
        return HCCL_SUCCESS;
    }
    const bool connected = net->nt_mesh != NULL;
    sim_net_close(net);
    SIM_ARGUMENT(connected, HCCL_E_TCP_CONNECT, "EI0006: the processes of other hosts cannot be reached from %s: %s",
                 address, opening.op_why);
    return (HcclResult)sim_refuse(HCCL_E_MEMORY, "there is no memory for threads that connect to other hosts");
}

void sim_net_close(struct sim_net *net)
{
    const uint64_t deadline = sim_clock_now() + LINGER_NS;
    uint32_t running;
    atomic_store(&net->nt_closing, true);
    for (uint32_t place = 0; place < net->nt_count; place++)
        wake(&net->nt_lanes[place].ln_queued);
    while ((running = atomic_load(&net->nt_running)) != 0) {
        const uint64_t now = sim_clock_now();
        if (now >= deadline)
            break;
        sim_futex_wait(&net->nt_running, running, deadline - now);
    }
    if (running != 0)
        plugin->abort(net->nt_mesh);
    for (uint32_t place = 0; place < net->nt_count; place++) {
        struct lane *lane = &net->nt_lanes[place];
        if (lane->ln_is_open) {
            pthread_join(lane->ln_sender, NULL);
            pthread_join(lane->ln_receiver, NULL);
        }
        while (lane->ln_out.li_first != NULL)
            remove_first(lane, &lane->ln_out);
        while (lane->ln_in.li_first != NULL)
            remove_first(lane, &lane->ln_in);
    }
    if (net->nt_mesh != NULL)
        plugin->close(net->nt_mesh);
    free(net);
}

/* ---- records ---- */

void sim_net_send(struct sim_net *net, uint32_t place, const struct sim_wire_record *record)
{
    struct lane *lane = &net->nt_lanes[place];
    struct sim_wire_record *copy = malloc(record->re_size);
    if (copy != NULL)
        memcpy(copy, record, record->re_size);
    if (copy == NULL || !append(lane, &lane->ln_out, copy))
        mark_lost(lane);
    else
        wake(&lane->ln_queued);
}

const struct sim_wire_record *sim_net_receive(struct sim_net *net, uint32_t place)
{
    struct lane *lane = &net->nt_lanes[place];
    const struct parcel *parcel = first(lane, &lane->ln_in);
    return parcel != NULL ? parcel->pa_record : NULL;
}

void sim_net_next(struct sim_net *net, uint32_t place)
{
    remove_first(&net->nt_lanes[place], &net->nt_lanes[place].ln_in);
}

bool sim_net_is_lost(struct sim_net *net, uint32_t place)
{
    return atomic_load(&net->nt_lanes[place].ln_is_lost);
}

bool sim_net_has_news(struct sim_net *net, uint32_t place)
{
    return sim_net_receive(net, place) != NULL || sim_net_is_lost(net, place);
}
