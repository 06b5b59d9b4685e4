/* Copies and sets of memory. */
#ifndef SIM_MEMORY_COPY_H
#define SIM_MEMORY_COPY_H

#include "engine/engine.h"

/* Synchronous copies and sets, made by the calling thread. */
aclError sim_memory_copy(void *dst, const void *src, uint64_t size);
/* The same with the direction that the program passed, which only watchers see. */
aclError sim_memory_copy_kind(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind);
aclError sim_memory_set(void *address, uint32_t pattern, uint64_t size);

/* A rectangle of `height` rows of `width` bytes; a plain copy has one row. */
struct sim_rectangle {
    uint64_t rc_dst_pitch, rc_src_pitch, rc_width, rc_height;
};
/* Copies a rectangle synchronously. */
aclError sim_memory_copy_2d(void *dst, const void *src, const struct sim_rectangle *shape);
/* Both work on memory that was checked before, as tasks do. A pattern of four equal bytes may fill any number of
 * bytes; other patterns fill whole words. */
void sim_memory_copy_rows(const void *dst, const void *src, const struct sim_rectangle *shape);
void sim_memory_fill(const void *address, uint32_t pattern, uint64_t size);

/* The public function that requests a copy. */
enum sim_copy_call {
    SIM_COPY_ASYNC, SIM_COPY_CONDITION, SIM_COPY_BATCH, SIM_COPY_BATCH_V2, SIM_COPY_TO_SYMBOL, SIM_COPY_FROM_SYMBOL,
    SIM_COPY_CALLS,
};
/* Queues a copy, or makes it at once after the stream's earlier work if one side is pageable. */
aclError sim_memory_copy_async(void *dst, const void *src, uint64_t size, aclrtMemcpyKind kind, enum sim_copy_call call,
                               struct sim_target stream, void *site);
/* Waits for the stream's earlier work before a copy with a pageable side. Returns 107000 or 107041 if the stream
 * cannot wait. */
aclError sim_memory_wait_for_work(struct sim_target stream);
aclError sim_memory_copy_2d_async(void *dst, const void *src, const struct sim_rectangle *shape, aclrtMemcpyKind kind,
                                  struct sim_target stream, void *site);
/* With `words` the pattern is a 32-bit value (aclrtMemsetD32Async), otherwise one byte repeated four times. */
aclError sim_memory_set_async(void *address, uint32_t pattern, uint64_t size, bool words, struct sim_target stream,
                              void *site);

/* ---- batches (memory_batch.c) ---- */

#define SIM_BATCH_MOST (UINT32_C(1) << 20) /* copies of one batch */

struct sim_batch {
    void *const *ba_dsts, *const *ba_srcs;
    const size_t *ba_dst_sizes, *ba_sizes;
    size_t ba_count;
    const aclrtMemcpyBatchAttr *ba_attributes;
    const size_t *ba_starts; /* for each attribute, the first copy that it applies to */
    size_t ba_attribute_count;
};

/* Returns 107000 if the batch is invalid; *failed is then the copy whose memory or direction is wrong, or SIZE_MAX
 * if the fault is elsewhere. */
aclError sim_memory_copy_batch(const struct sim_batch *batch, size_t *failed);
aclError sim_memory_copy_batch_async(const struct sim_batch *batch, size_t *failed, enum sim_copy_call call,
                                     aclrtStream stream, void *site);

/* ---- copies whose addresses are read from device memory (memory_indirect.c) ---- */

#define SIM_COPY_DESCRIPTION_BYTES 64 /* of one description in device memory */
#define SIM_INDIRECT_MOST (UINT64_C(4) << 30)

/* Returns 107000 if the description or the copy is invalid. */
aclError sim_memory_describe_copy(void *description, void *dst, const void *src, uint64_t size);
aclError sim_memory_copy_described(const void *description, struct sim_target stream, void *site);

struct sim_indirect {
    const void *id_dst, *id_src; /* where the addresses are stored */
    uint64_t id_dst_offset, id_src_offset, id_size;
};
aclError sim_memory_copy_indirect(const struct sim_indirect *copy, struct sim_target stream, void *site);

#endif
