/* The exchange's thread, which owns the clients. It sleeps until another process asks, rings the bell, or exits. Of
 * the program's code it runs only tasks of streams that a bell wakes. It never waits for another process: if a reply
 * does not fit the socket, the connection is closed. It takes xc_lock only (exchange.c). */
#include "exchange_inner.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define EVENTS 16

static void drop(struct client *client)
{
    sim_lock(&sim_exchange.xc_lock);
    sim_exchange_unwatch(&client->cl_socket);
    sim_exchange_part(client);
    sim_unlock(&sim_exchange.xc_lock);
}

static struct client *free_client(void)
{
    uint32_t place = 0;
    while (place < sim_exchange.xc_client_count && sim_exchange.xc_clients[place].cl_socket >= 0)
        place++;
    return place < CLIENTS ? &sim_exchange.xc_clients[place] : NULL;
}

/* Without a free descriptor the connection could not even be accepted and closed, and epoll would report it forever;
 * so a spare descriptor is kept for that. */
static void refuse_caller(void)
{
    struct exchange *exchange = &sim_exchange;
    sim_exchange_close(&exchange->xc_spare);
    int connection = accept4(exchange->xc_listener, NULL, NULL, SOCK_CLOEXEC);
    sim_exchange_close(&connection);
    exchange->xc_spare = fcntl(exchange->xc_end, F_DUPFD_CLOEXEC, 0);
}

static void answer_caller(void)
{
    struct exchange *exchange = &sim_exchange;
    struct ucred peer;
    socklen_t size = sizeof peer;
    int connection = accept4(exchange->xc_listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) {
        if (errno == EMFILE || errno == ENFILE)
            refuse_caller();
        return;
    }
    struct client *client = free_client();
    bool welcome = client != NULL && getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                   peer.uid == geteuid();
    if (!welcome || sim_exchange_watch(connection, EPOLLIN | EPOLLRDHUP, SOURCE_CLIENT,
                                       (uint32_t)(client - exchange->xc_clients)) != 0) {
        close(connection);
        return;
    }
    sim_lock(&exchange->xc_lock);
    *client = (struct client){.cl_socket = connection, .cl_pid = peer.pid};
    if (client == &exchange->xc_clients[exchange->xc_client_count])
        exchange->xc_client_count++;
    sim_unlock(&exchange->xc_lock);
}

static bool may_open(const struct entry *entry, int32_t pid)
{
    bool may = entry->en_to_all;
    for (size_t i = 0; i < entry->en_pid_count && !may; i++)
        may = entry->en_pids[i] == pid;
    return may;
}

/* Looks files up and sends them under one hold of the lock: once it is released, a withdrawal may close them. */
static bool reply_to(struct client *client, const struct request *request)
{
    struct reply reply = {.rp_protocol = PROTOCOL, .rp_code = ACL_ERROR_RT_PARAM_INVALID};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(FILES * sizeof(int))] = {0};
    struct iovec bytes = {&reply, sizeof reply};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    int files[FILES] = {-1, -1};
    bool known = request->rq_protocol == PROTOCOL && request->rq_kind < SIM_EXCHANGE_KINDS;
    sim_lock(&sim_exchange.xc_lock);
    const struct entry *entry =
        known ? sim_exchange_find((enum sim_exchange_kind)request->rq_kind, request->rq_number) : NULL;
    const struct sim_offer *offer = entry != NULL ? &entry->en_offer : NULL;
    bool fits = offer != NULL && (request->rq_verb == VERB_JOIN) == (entry->en_slot < SLOTS) &&
                (offer->of_lives == NULL || offer->of_lives(offer));
    if (fits && !may_open(entry, client->cl_pid))
        reply.rp_code = ACL_ERROR_RT_NO_PERMISSION;
    else if (fits) {
        reply = (struct reply){.rp_protocol = PROTOCOL, .rp_device = offer->of_device, .rp_offset = offer->of_offset,
                               .rp_size = offer->of_size, .rp_extra = {offer->of_extra[0], offer->of_extra[1]}};
        files[0] = offer->of_file;
        if (request->rq_verb == VERB_JOIN)
            sim_exchange_serve_join(client, entry, &reply, files);
    }
    size_t count = (files[0] >= 0) + (files[1] >= 0);
    if (count != 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(part), files, count * sizeof(int));
    }
    ssize_t sent = sendmsg(client->cl_socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    sim_unlock(&sim_exchange.xc_lock);
    return sent == (ssize_t)sizeof reply;
}

static void hear(struct client *client, uint32_t events)
{
    struct request request;
    ssize_t size = recv(client->cl_socket, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR) && !(events & (EPOLLHUP | EPOLLERR)))
        return;
    bool stays = size == (ssize_t)sizeof request;
    if (stays && request.rq_verb == VERB_LEAVE) {
        sim_lock(&sim_exchange.xc_lock);
        sim_exchange_serve_leave(client, request.rq_number);
        sim_unlock(&sim_exchange.xc_lock);
    } else if (stays) {
        stays = reply_to(client, &request);
    }
    if (!stays)
        drop(client);
}

/* Marks a link's publisher as gone, unless the link was reused for another process meanwhile. Its closed socket
 * would be reported forever, so epoll stops watching it. */
static void lose(uint32_t index)
{
    struct sim_link *link = &sim_exchange.xc_links[index];
    sim_lock(&sim_exchange.xc_lock);
    struct pollfd ended = {.fd = link->lk_socket, .events = POLLRDHUP};
    bool gone = poll(&ended, 1, 0) == 1 && (ended.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    if (gone) {
        epoll_ctl(sim_exchange.xc_poll, EPOLL_CTL_DEL, link->lk_socket, NULL);
        atomic_store(&link->lk_gone, true);
    }
    sim_unlock(&sim_exchange.xc_lock);
    if (gone)
        sim_exchange_ring(index);
}

void *sim_exchange_serve(void *nothing)
{
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(sim_exchange.xc_poll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            uint32_t index = (uint32_t)events[i].data.u64;
            switch ((enum source)(events[i].data.u64 >> 32)) {
            case SOURCE_END:
                return nothing;
            case SOURCE_LISTENER:
                answer_caller();
                break;
            case SOURCE_CLIENT:
                if (sim_exchange.xc_clients[index].cl_socket >= 0)
                    hear(&sim_exchange.xc_clients[index], events[i].events);
                break;
            case SOURCE_LINK:
                lose(index);
                break;
            case SOURCE_BELL:
                sim_exchange_ring(index);
                break;
            }
        }
    }
}
