/* What libacl_hccl_net.so offers: connections between processes on several hosts. The simulator opens it only for a
 * communicator whose ranks are on several of them (core/collective/net.c). */
#ifndef SIM_NET_PLUGIN_H
#define SIM_NET_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_HCCL_NET_VERSION 1u
#define ACL_HCCL_NET_TEXT 256 /* bytes of a message about a failure */

struct acl_hccl_mesh; /* connections of one process to the others of a communicator */

/* Values under names, which all processes of a mesh see while they connect. Both return 0, or -1 on a failure; `get`
 * waits until another process has set the value, which the caller frees. */
struct acl_hccl_store {
    void *state;
    int (*set)(void *state, const char *name, const void *bytes, size_t size);
    int (*get)(void *state, const char *name, void **bytes, size_t *size);
};

/* No function lets an exception out. Those that can fail return NULL or -1 and write why. */
struct acl_hccl_net {
    uint32_t version;
    /* Connects as one of `members`. `address`: the numeric address of this host by which the others reach it. */
    struct acl_hccl_mesh *(*open)(uint32_t member, uint32_t members, const char *address,
                                  const struct acl_hccl_store *store, uint64_t milliseconds,
                                  char why[ACL_HCCL_NET_TEXT]);
    /* Sends bytes to a member, and waits until they have left. One thread at a time sends to a member. */
    int (*send)(struct acl_hccl_mesh *mesh, uint32_t member, const void *bytes, uint64_t size,
                char why[ACL_HCCL_NET_TEXT]);
    /* Waits for what a member sends next, and returns it in memory that the caller frees. One thread at a time
     * receives from a member. */
    int (*receive)(struct acl_hccl_mesh *mesh, uint32_t member, void **bytes, uint64_t *size,
                   char why[ACL_HCCL_NET_TEXT]);
    /* Makes all calls of `send` and `receive` fail, those that wait too. */
    void (*abort)(struct acl_hccl_mesh *mesh);
    /* No other call may run. */
    void (*close)(struct acl_hccl_mesh *mesh);
};

const struct acl_hccl_net *acl_hccl_net(void); /* the library's only symbol */

#ifdef __cplusplus
}
#endif

#endif
