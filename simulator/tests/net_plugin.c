/* A plugin for test_net.c: connections between the threads of one process, by pairs of sockets. */
#include "collective/net_plugin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEMBERS 4

struct acl_hccl_mesh {
    uint32_t own;
    int sockets[MEMBERS]; /* -1: itself, or none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards pairs */
static int pairs[MEMBERS][MEMBERS]; /* the end of the first for the second, plus 1; 0: not made yet, or taken */

static int take_end(uint32_t own, uint32_t other)
{
    pthread_mutex_lock(&lock);
    if (pairs[own][other] == 0) {
        int both[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0)
            abort();
        pairs[own][other] = both[0] + 1;
        pairs[other][own] = both[1] + 1;
    }
    const int end = pairs[own][other] - 1;
    pairs[own][other] = 0;
    pthread_mutex_unlock(&lock);
    return end;
}

/* Only the store tells whether the others come: each member says that it does. */
static struct acl_hccl_mesh *open_mesh(uint32_t member, uint32_t members, const char *address,
                                       const struct acl_hccl_store *store, uint64_t milliseconds,
                                       char why[ACL_HCCL_NET_TEXT])
{
    struct acl_hccl_mesh *mesh = malloc(sizeof *mesh);
    (void)milliseconds;
    if (mesh == NULL || store->set(store->state, address, &member, sizeof member) != 0) {
        snprintf(why, ACL_HCCL_NET_TEXT, "the store has no place for %s", address);
        free(mesh);
        return NULL;
    }
    mesh->own = member;
    for (uint32_t other = 0; other < MEMBERS; other++)
        mesh->sockets[other] = other < members && other != member ? take_end(member, other) : -1;
    return mesh;
}

static bool write_all(int socket, const void *bytes, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        const ssize_t sent = send(socket, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        done += (uint64_t)sent;
    }
    return true;
}

static int send_bytes(struct acl_hccl_mesh *mesh, uint32_t member, const void *bytes, uint64_t size,
                      char why[ACL_HCCL_NET_TEXT])
{
    if (write_all(mesh->sockets[member], &size, sizeof size) && write_all(mesh->sockets[member], bytes, size))
        return 0;
    snprintf(why, ACL_HCCL_NET_TEXT, "member %u has ended", member);
    return -1;
}

static int receive_bytes(struct acl_hccl_mesh *mesh, uint32_t member, void **bytes, uint64_t *size,
                         char why[ACL_HCCL_NET_TEXT])
{
    *bytes = NULL;
    if (recv(mesh->sockets[member], size, sizeof *size, MSG_WAITALL) == sizeof *size) {
        *bytes = malloc(*size + 1);
        if (*size == 0 || recv(mesh->sockets[member], *bytes, *size, MSG_WAITALL) == (ssize_t)*size)
            return 0;
        free(*bytes);
    }
    snprintf(why, ACL_HCCL_NET_TEXT, "member %u has ended", member);
    return -1;
}

static void abort_mesh(struct acl_hccl_mesh *mesh)
{
    for (uint32_t other = 0; other < MEMBERS; other++)
        if (mesh->sockets[other] >= 0)
            shutdown(mesh->sockets[other], SHUT_RDWR);
}

static void close_mesh(struct acl_hccl_mesh *mesh)
{
    for (uint32_t other = 0; other < MEMBERS; other++)
        if (mesh->sockets[other] >= 0)
            close(mesh->sockets[other]);
    free(mesh);
}

__attribute__((visibility("default"))) const struct acl_hccl_net *acl_hccl_net(void)
{
    static const struct acl_hccl_net net = {ACL_HCCL_NET_VERSION, open_mesh,  send_bytes,
                                            receive_bytes,        abort_mesh, close_mesh};
    return &net;
}
