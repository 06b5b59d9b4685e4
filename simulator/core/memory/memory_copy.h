/* Copies and sets. */
#ifndef SIM_MEMORY_COPY_H
#define SIM_MEMORY_COPY_H

#include "engine/engine.h"

aclError sim_memory_copy(void *dst, const void *src, uint64_t size);
aclError sim_memory_set(void *address, uint32_t pattern, uint64_t size);

/* A rectangle of `height` rows of `width` bytes; a plain copy has one row. */
struct sim_rectangle {
    uint64_t rc_dst_pitch, rc_src_pitch, rc_width, rc_height;
};
aclError sim_memory_copy_2d(void *dst, const void *src, const struct sim_rectangle *shape);
/* Both on memory that was checked before, as tasks do it. A pattern of four equal bytes may fill any number of bytes,
 * others fill whole words. */
void sim_memory_copy_rows(const void *dst, const void *src, const struct sim_rectangle *shape);
void sim_memory_fill(const void *address, uint32_t pattern, uint64_t size);

/* Who asks for a copy. */
enum sim_copy_call {
    SIM_COPY_ASYNC, SIM_COPY_CONDITION, SIM_COPY_BATCH, SIM_COPY_BATCH_V2, SIM_COPY_TO_SYMBOL, SIM_COPY_FROM_SYMBOL,
    SIM_COPY_CALLS,
};
aclError sim_memory_copy_async(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind, enum sim_copy_call call,
                               struct sim_target stream, void *site);
/* What a copy with a pageable side does first: the stream's work is done, or this is refused. 107000, 107041. */
aclError sim_memory_wait_for_work(struct sim_target stream);
aclError sim_memory_copy_2d_async(void *dst, const void *src, const struct sim_rectangle *shape, aclrtMemcpyKind kind,
                                  struct sim_target stream, void *site);
/* `words`: the pattern is a 32-bit value (aclrtMemsetD32Async), not a byte four times. */
aclError sim_memory_set_async(void *address, uint32_t pattern, uint64_t size, bool words, struct sim_target stream,
                              void *site);

/* ---- batches (memory_batch.c) ---- */

#define SIM_BATCH_MOST (UINT32_C(1) << 20) /* copies of one batch */

struct sim_batch {
    void *const *ba_dsts, *const *ba_srcs;
    const size_t *ba_dst_sizes, *ba_sizes;
    size_t ba_count;
    const aclrtMemcpyBatchAttr *ba_attributes;
    const size_t *ba_starts; /* of each attribute: the first copy that has it */
    size_t ba_attribute_count;
};

/* 107000; *failed is the copy whose memory or direction is wrong, SIZE_MAX when it is something else. */
aclError sim_memory_copy_batch(const struct sim_batch *batch, size_t *failed);
aclError sim_memory_copy_batch_async(const struct sim_batch *batch, size_t *failed, enum sim_copy_call call,
                                     aclrtStream stream, void *site);

/* ---- copies whose addresses stand in device memory (memory_indirect.c) ---- */

#define SIM_COPY_DESCRIPTION_BYTES 64 /* in device memory */
#define SIM_INDIRECT_MOST (UINT64_C(4) << 30)

/* 107000 */
aclError sim_memory_describe_copy(void *description, void *dst, const void *src, uint64_t size);
aclError sim_memory_copy_described(const void *description, struct sim_target stream, void *site);

struct sim_indirect {
    const void *id_dst, *id_src; /* where the addresses stand */
    uint64_t id_dst_offset, id_src_offset, id_size;
};
aclError sim_memory_copy_indirect(const struct sim_indirect *copy, struct sim_target stream, void *site);

#endif
