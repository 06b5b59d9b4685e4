/* The words of a root's page (root.c), which other processes read and write. */
#ifndef SIM_ROOT_PAGE_H
#define SIM_ROOT_PAGE_H

#include "root.h"

enum state { OPEN, COMPLETE, EXPIRED, LOST }; /* of a root; the number of a rank is in the upper half */
enum { STATE, AGREED, JOINED, CARDS = 16 };   /* words of the page */
enum { CLAIM, WHO, DEVICE, PAGE, BOARD, MEMORY, MACHINE, CARD_WORDS = 15 }; /* words of a card */
enum { FREE, TAKEN, READY };                  /* what CLAIM is */
#define WORDS (CARDS + SIM_ROOT_RANKS * CARD_WORDS)
_Static_assert(WORDS <= SIM_SHARE_RECORDS && WORDS <= SIM_LOBBY_WORDS, "the cards fit into a page, and a message");

static inline _Atomic uint64_t *word(const struct sim_root *root, uint32_t index)
{
    return &root->ro_words[index];
}

static inline _Atomic uint64_t *card_word(const struct sim_root *root, uint32_t rank, uint32_t index)
{
    return word(root, CARDS + rank * CARD_WORDS + index);
}

#endif
