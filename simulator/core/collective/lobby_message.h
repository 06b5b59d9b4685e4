/* The messages between a lobby and its guests: a head, then bytes. */
#ifndef SIM_LOBBY_MESSAGE_H
#define SIM_LOBBY_MESSAGE_H

#include "base/clock.h"
#include "comm_config.h"
#include "lobby.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#define LOBBY_PROTOCOL UINT64_C(0x314343484c4341) /* "ACLHCC1" */
#define LOBBY_MOST (1u << 20)                      /* bytes of a message */
#define LOBBY_NAME 64                              /* of a value, with its end */

enum lobby_verb {
    LOBBY_HELLO,   /* of a guest: struct lobby_hello */
    LOBBY_WELCOME, /* of the lobby, at once: nothing */
    LOBBY_JOIN,    /* struct sim_request */
    LOBBY_LEAVE,   /* the rank, in 32 bits */
    LOBBY_SET,     /* the name, then the value */
    LOBBY_GET,     /* the name */
    LOBBY_DONE,    /* an empty name: the process has connected to all others */
    LOBBY_ANSWER,  /* of the lobby: struct sim_answer, or, to SET, GET and DONE: 8 bytes, 1 for success, and a value */
    LOBBY_WORDS,   /* those of the root */
};

struct lobby_head {
    uint32_t lh_size; /* of what follows */
    uint32_t lh_verb;
};

struct lobby_hello {
    uint64_t lo_protocol, lo_secret[2];
    uint32_t lo_watches; /* it gets each change, and its ranks leave when the connection ends */
    uint32_t lo_rank;    /* the lowest one of the process, if it does not watch */
};

/* Send and receive all bytes. False if the other side has ended, or takes longer than the socket's time limit. */
static inline bool lobby_send_bytes(int socket, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size != 0) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

static inline bool lobby_receive_bytes(int socket, void *bytes, size_t size)
{
    char *at = bytes;
    while (size != 0) {
        ssize_t received = recv(socket, at, size, 0);
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            return false;
        at += received;
        size -= (size_t)received;
    }
    return true;
}

/* A message in two parts. */
static inline bool lobby_send(int socket, enum lobby_verb verb, const void *first, size_t first_size,
                              const void *second, size_t second_size)
{
    const struct lobby_head head = {(uint32_t)(first_size + second_size), verb};
    return lobby_send_bytes(socket, &head, sizeof head) && lobby_send_bytes(socket, first, first_size) &&
           lobby_send_bytes(socket, second, second_size);
}

/* Receives a message into memory that the caller frees, with a zero byte behind it. */
static inline bool lobby_receive(int socket, struct lobby_head *head, void **bytes)
{
    *bytes = NULL;
    if (!lobby_receive_bytes(socket, head, sizeof *head) || head->lh_size > LOBBY_MOST)
        return false;
    *bytes = calloc(1, (size_t)head->lh_size + 1);
    if (*bytes != NULL && lobby_receive_bytes(socket, *bytes, head->lh_size))
        return true;
    free(*bytes);
    *bytes = NULL;
    return false;
}

/* Conditions that are awaited until a time of the monotonic clock, by which ranks give up. */
static inline void lobby_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static inline struct timespec lobby_deadline(void)
{
    const uint64_t limit = sim_clock_now() + sim_comm_connect_timeout();
    return (struct timespec){(time_t)(limit / 1000000000u), (long)(limit % 1000000000u)};
}

#endif
