/* This file provides shared buffers, and puts them into queues and takes them out.
 *
 * A handle refers to a content: a length, a private area, a position in a chain, and a block of bytes. Several contents
 * may share a block; the last one frees it. A content in a queue has no handle: putting invalidates the handles of its
 * whole chain, taking creates one for the head, and the other members get theirs when a program requests them. While a
 * put waits for room, its handles are live without a content: other calls reject them, and if the put fails they get
 * their contents back. The bytes are ordinary process memory, because chips with shared buffers run the program on the
 * device itself.
 *
 * Locks: one lock guards handles and contents; the users of a block are counted atomically. */
#include "queue.h"
#include "address/memory.h"
#include "base/config.h"
#include <stdlib.h>
#include <string.h>

struct block {
    _Atomic uint32_t bl_users;
    uint64_t bl_size;
    _Alignas(16) unsigned char bl_bytes[];
};

struct content {
    struct sim_parcel co_parcel;
    struct content *co_next; /* in its chain */
    struct content *co_head; /* of the chain that it was appended to; NULL: the head itself, or not in a chain */
    struct block *co_block;
    uint64_t co_length;
    uint64_t co_handle; /* or 0 */
    unsigned char co_private[SIM_QUEUE_PRIVATE];
};

struct buffer {
    struct sim_slot bu_slot;
    struct content *bu_content; /* NULL while a put waits for room */
};

static struct sim_table buffers = {.tb_stride = sizeof(struct buffer), .tb_limit = SIM_OBJECTS,
                                   .tb_kind = SIM_KIND_QUEUE_BUFFER};
static struct sim_lock lock;

aclError sim_queue_buffer_supported(aclError code)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_ARGUMENT(soc->so_profile == SIM_P310B, code,
                 "%s is a card in a host, expected a chip that runs the program itself, such as Ascend310B1",
                 soc->so_name);
    return ACL_SUCCESS;
}

/* ---- contents ---- */

static struct content *content_over(struct block *block)
{
    struct content *content = block != NULL ? calloc(1, sizeof *content) : NULL;
    if (content != NULL)
        content->co_block = block;
    return content;
}

static void drop_block(struct block *block)
{
    if (block != NULL && atomic_fetch_sub_explicit(&block->bl_users, 1, memory_order_acq_rel) == 1)
        free(block);
}

static struct content *create_content(uint64_t size)
{
    struct block *block = calloc(1, sizeof *block + size);
    struct content *content = content_over(block);
    if (content == NULL) {
        free(block);
        return NULL;
    }
    block->bl_size = size;
    atomic_store_explicit(&block->bl_users, 1, memory_order_relaxed);
    return content;
}

/* Another content over the same bytes, not in a chain and without a handle. */
static struct content *share(const struct content *content)
{
    struct content *copy = content_over(content->co_block);
    if (copy == NULL)
        return NULL;
    atomic_fetch_add_explicit(&copy->co_block->bl_users, 1, memory_order_relaxed);
    copy->co_length = content->co_length;
    copy->co_parcel.pa_bytes = content->co_parcel.pa_bytes;
    memcpy(copy->co_private, content->co_private, SIM_QUEUE_PRIVATE);
    return copy;
}

/* Frees a content and its chain, which have no handles any more. */
static void drop(struct content *content)
{
    while (content != NULL) {
        struct content *next = content->co_next;
        drop_block(content->co_block);
        free(content);
        content = next;
    }
}

static void drop_parcel(struct sim_parcel *parcel)
{
    drop((struct content *)parcel); /* whose first member it is */
}

static struct sim_parcel *share_parcel(const struct sim_parcel *parcel)
{
    struct content *head = NULL, **end = &head;
    for (const struct content *content = (const struct content *)parcel; content != NULL; content = content->co_next) {
        *end = share(content);
        if (*end == NULL) {
            drop(head);
            return NULL;
        }
        (*end)->co_head = *end == head ? NULL : head;
        end = &(*end)->co_next;
    }
    return &head->co_parcel;
}

const struct sim_cargo sim_queue_buffers = {drop_parcel, share_parcel};

/* ---- handles, under the lock ---- */

static aclError find(const void *handle, const char *argument, struct content **content)
{
    struct buffer *buffer = sim_table_find(&buffers, handle);
    SIM_ARGUMENT(buffer != NULL, ACL_ERROR_INVALID_PARAM, "%s is %s (%p), expected a live shared buffer", argument,
                 sim_handle_describe(handle), handle);
    *content = buffer->bu_content;
    SIM_ARGUMENT(*content != NULL, ACL_ERROR_INVALID_PARAM, "%s is %p, which another thread is putting into a queue",
                 argument, handle);
    return ACL_SUCCESS;
}

/* The same, for a buffer that was not appended to a chain. */
static aclError find_head(const void *handle, const char *argument, struct content **content)
{
    SIM_TRY(find(handle, argument, content));
    SIM_ARGUMENT((*content)->co_head == NULL, ACL_ERROR_INVALID_PARAM,
                 "%s is %p, which was appended to a chain, expected the chain's first buffer", argument, handle);
    return ACL_SUCCESS;
}

/* Takes a slot; its handle is not live yet. */
static struct buffer *take_slot(uint64_t *handle)
{
    struct buffer *buffer = sim_table_open(&buffers) == 0 ? sim_table_take(&buffers, handle) : NULL;
    if (buffer == NULL)
        sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for another shared buffer (%u may exist)", SIM_OBJECTS - 1);
    return buffer;
}

static void *publish(struct buffer *buffer, uint64_t handle, struct content *content)
{
    buffer->bu_content = content;
    content->co_handle = handle;
    atomic_store_explicit(&buffer->bu_slot.sl_handle, handle, memory_order_release);
    return (void *)(uintptr_t)handle;
}

static void end_handle(uint64_t handle)
{
    struct buffer *buffer = sim_table_at(&buffers, sim_handle_index(handle));
    atomic_store_explicit(&buffer->bu_slot.sl_handle, 0, memory_order_relaxed);
    buffer->bu_content = NULL;
    sim_table_give(&buffers, buffer);
}

static void end_handles(struct content *content)
{
    for (; content != NULL; content = content->co_next) {
        if (content->co_handle != 0)
            end_handle(content->co_handle);
        content->co_handle = 0;
    }
}

/* ---- creating and freeing ---- */

/* Gives a new content a handle; frees the content on failure. */
static aclError give_handle(struct content *content, void **handle)
{
    uint64_t value;
    struct buffer *buffer = content != NULL ? take_slot(&value) : NULL;
    if (buffer == NULL) {
        drop(content);
        return content == NULL ? sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for the shared buffer")
                               : ACL_ERROR_BAD_ALLOC;
    }
    sim_lock(&lock);
    *handle = publish(buffer, value, content);
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

aclError sim_queue_buffer_allocate(uint64_t size, void **handle)
{
    return give_handle(create_content(size), handle);
}

aclError sim_queue_buffer_free(void *handle)
{
    struct content *content = NULL;
    sim_lock(&lock);
    aclError code = find_head(handle, "buf", &content);
    if (code == ACL_SUCCESS)
        end_handles(content);
    sim_unlock(&lock);
    if (code == ACL_SUCCESS)
        drop(content);
    return code;
}

aclError sim_queue_buffer_share(const void *handle, void **copy)
{
    struct content *content, *other = NULL;
    sim_lock(&lock);
    aclError code = find(handle, "buf", &content);
    if (code == ACL_SUCCESS)
        other = share(content);
    sim_unlock(&lock);
    return code == ACL_SUCCESS ? give_handle(other, copy) : code;
}

/* ---- length, data and private area ---- */

aclError sim_queue_buffer_data(const void *handle, void **address, size_t *size)
{
    struct content *content;
    sim_lock(&lock);
    aclError code = find(handle, "buf", &content);
    if (code == ACL_SUCCESS) {
        *address = content->co_block->bl_bytes;
        *size = content->co_block->bl_size;
    }
    sim_unlock(&lock);
    return code;
}

static aclError check_length(uint64_t length, const struct content *content)
{
    SIM_ARGUMENT(length <= content->co_block->bl_size, ACL_ERROR_INVALID_PARAM,
                 "len is %llu, expected at most %llu, the size of the buffer", (unsigned long long)length,
                 (unsigned long long)content->co_block->bl_size);
    return ACL_SUCCESS;
}

aclError sim_queue_buffer_set_length(void *handle, uint64_t length)
{
    struct content *content;
    sim_lock(&lock);
    aclError code = find(handle, "buf", &content);
    if (code == ACL_SUCCESS)
        code = check_length(length, content);
    if (code == ACL_SUCCESS)
        content->co_length = length;
    sim_unlock(&lock);
    return code;
}

aclError sim_queue_buffer_length(const void *handle, size_t *length)
{
    struct content *content;
    sim_lock(&lock);
    aclError code = find(handle, "buf", &content);
    if (code == ACL_SUCCESS)
        *length = content->co_length;
    sim_unlock(&lock);
    return code;
}

aclError sim_queue_buffer_private(const void *handle, void *data, size_t size, size_t offset, bool write)
{
    struct content *content;
    sim_lock(&lock);
    aclError code = find(handle, "buf", &content);
    if (code == ACL_SUCCESS && write)
        memcpy(content->co_private + offset, data, size);
    else if (code == ACL_SUCCESS)
        memcpy(data, content->co_private + offset, size);
    sim_unlock(&lock);
    return code;
}

/* ---- chains ---- */

static uint32_t count_chain(const struct content *content)
{
    uint32_t count = 0;
    for (; content != NULL; content = content->co_next)
        count++;
    return count;
}

static aclError append(struct content *head, struct content *content, const void *handle)
{
    SIM_ARGUMENT(content != head && content->co_next == NULL, ACL_ERROR_INVALID_PARAM,
                 "buf is %p, %s, expected a buffer that is not in a chain", handle,
                 content == head ? "which is headBuf, too" : "the first buffer of a chain");
    SIM_ARGUMENT(count_chain(head) < SIM_QUEUE_CHAIN, ACL_ERROR_INVALID_PARAM,
                 "the chain of headBuf has %d buffers already, which is the maximum", SIM_QUEUE_CHAIN);
    struct content *last = head;
    while (last->co_next != NULL)
        last = last->co_next;
    last->co_next = content;
    content->co_head = head;
    return ACL_SUCCESS;
}

aclError sim_queue_buffer_append(const void *head, const void *handle)
{
    struct content *first, *content;
    sim_lock(&lock);
    aclError code = find_head(head, "headBuf", &first);
    if (code == ACL_SUCCESS)
        code = find_head(handle, "buf", &content);
    if (code == ACL_SUCCESS)
        code = append(first, content, handle);
    sim_unlock(&lock);
    return code;
}

aclError sim_queue_buffer_chain(const void *head, uint32_t *count)
{
    struct content *first;
    sim_lock(&lock);
    aclError code = find_head(head, "headBuf", &first);
    if (code == ACL_SUCCESS)
        *count = count_chain(first);
    sim_unlock(&lock);
    return code;
}

static aclError member(struct content *content, uint32_t index, void **handle)
{
    uint32_t count = count_chain(content);
    SIM_ARGUMENT(index < count, ACL_ERROR_INVALID_PARAM,
                 "index is %u, expected less than %u, the number of buffers in the chain", index, count);
    while (index-- != 0)
        content = content->co_next;
    if (content->co_handle == 0) {
        uint64_t value;
        struct buffer *buffer = take_slot(&value);
        if (buffer == NULL)
            return ACL_ERROR_BAD_ALLOC;
        publish(buffer, value, content);
    }
    *handle = (void *)(uintptr_t)content->co_handle;
    return ACL_SUCCESS;
}

aclError sim_queue_buffer_member(const void *head, uint32_t index, void **handle)
{
    struct content *first;
    sim_lock(&lock);
    aclError code = find_head(head, "headBuf", &first);
    if (code == ACL_SUCCESS)
        code = member(first, index, handle);
    sim_unlock(&lock);
    return code;
}

/* ---- into queues and out of them ---- */

/* The handles of a chain while a put waits for room. */
struct detached {
    uint64_t de_handles[SIM_QUEUE_CHAIN]; /* 0: a member without a handle */
};

static void detach(struct content *content, struct detached *detached)
{
    uint64_t bytes = 0;
    struct content *head = content;
    for (size_t i = 0; content != NULL; content = content->co_next, i++) {
        uint64_t handle = detached->de_handles[i] = content->co_handle;
        if (handle != 0)
            ((struct buffer *)sim_table_at(&buffers, sim_handle_index(handle)))->bu_content = NULL;
        content->co_handle = 0;
        bytes += content->co_length;
    }
    head->co_parcel.pa_bytes = bytes;
}

/* Ends a put: invalidates the handles if the content is in the queue, otherwise restores them. */
static void settle(struct content *content, const struct detached *detached, uint32_t count, bool gone)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t handle = detached->de_handles[i];
        if (handle != 0 && gone)
            end_handle(handle);
        else if (handle != 0)
            publish(sim_table_at(&buffers, sim_handle_index(handle)), handle, content);
        content = gone ? NULL : content->co_next;
    }
}

aclError sim_queue_buffer_put(uint32_t queue, void *handle, int32_t timeout)
{
    struct content *content;
    struct detached detached;
    uint32_t count = 0;
    sim_lock(&lock);
    aclError code = find_head(handle, "buf", &content);
    if (code == ACL_SUCCESS) {
        count = count_chain(content);
        detach(content, &detached);
    }
    sim_unlock(&lock);
    SIM_TRY(code);
    enum sim_passage passage =
        sim_queue_put(queue, &sim_queue_buffers, &content->co_parcel, (struct sim_patience){timeout, NULL});
    sim_lock(&lock);
    settle(content, &detached, count, passage == SIM_PASSED);
    sim_unlock(&lock);
    return sim_queue_outcome(passage, queue, timeout, true);
}

aclError sim_queue_buffer_take(uint32_t queue, void **handle, int32_t timeout)
{
    struct sim_parcel *parcel = NULL;
    uint64_t value, room = UINT64_MAX;
    struct buffer *buffer = take_slot(&value); /* first, so that no entry is lost for lack of memory */
    if (buffer == NULL)
        return ACL_ERROR_BAD_ALLOC;
    enum sim_passage passage =
        sim_queue_take(queue, &sim_queue_buffers, &parcel, &room, (struct sim_patience){timeout, NULL});
    if (passage != SIM_PASSED) {
        sim_table_give(&buffers, buffer);
        return sim_queue_outcome(passage, queue, timeout, false);
    }
    sim_lock(&lock);
    *handle = publish(buffer, value, (struct content *)parcel);
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

/* ---- bytes of calls ---- */

static aclError check_bytes(const struct sim_queue_bytes *bytes)
{
    struct sim_place place;
    SIM_ARGUMENT(bytes->qb_user_size <= SIM_QUEUE_PRIVATE, ACL_ERROR_INVALID_PARAM,
                 "userDataSize is %llu, expected at most %d", (unsigned long long)bytes->qb_user_size,
                 SIM_QUEUE_PRIVATE);
    SIM_ARGUMENT(bytes->qb_user_size == 0 || bytes->qb_user != NULL, ACL_ERROR_INVALID_PARAM,
                 "userData is NULL with userDataSize %llu, expected a valid pointer or 0",
                 (unsigned long long)bytes->qb_user_size);
    SIM_ARGUMENT(sim_memory_is_host(bytes->qb_user), ACL_ERROR_INVALID_PARAM,
                 "userData is %p, which is device memory, expected host memory", bytes->qb_user);
    return sim_memory_span(bytes->qb_data, bytes->qb_size, "data", "dataSize", &place);
}

aclError sim_queue_buffer_pack(const struct sim_queue_bytes *bytes, struct sim_parcel **parcel)
{
    struct content *content = create_content(bytes->qb_size);
    SIM_ARGUMENT(content != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for %llu bytes in a queue",
                 (unsigned long long)bytes->qb_size);
    if (bytes->qb_size != 0)
        memcpy(content->co_block->bl_bytes, sim_memory_reach(bytes->qb_data), bytes->qb_size);
    if (bytes->qb_user_size != 0)
        memcpy(content->co_private, bytes->qb_user, bytes->qb_user_size);
    content->co_length = content->co_parcel.pa_bytes = bytes->qb_size;
    *parcel = &content->co_parcel;
    return ACL_SUCCESS;
}

/* The bytes of a chain are copied one buffer after another. */
void sim_queue_buffer_unpack(struct sim_parcel *parcel, const struct sim_queue_bytes *bytes)
{
    struct content *content = (struct content *)parcel;
    unsigned char *to = bytes->qb_data != NULL ? sim_memory_reach(bytes->qb_data) : NULL;
    if (bytes->qb_user_size != 0)
        memcpy(bytes->qb_user, content->co_private, bytes->qb_user_size);
    for (const struct content *part = content; part != NULL && to != NULL; part = part->co_next) {
        memcpy(to, part->co_block->bl_bytes, part->co_length);
        to += part->co_length;
    }
    sim_memory_expose(bytes->qb_data);
    drop(content);
}

aclError sim_queue_buffer_put_bytes(uint32_t queue, const struct sim_queue_bytes *bytes, int32_t timeout)
{
    struct sim_parcel *parcel;
    SIM_ARGUMENT(bytes->qb_size <= SIM_QUEUE_BUFFER_MOST, ACL_ERROR_INVALID_PARAM,
                 "dataSize is %llu, expected at most 4 GiB", (unsigned long long)bytes->qb_size);
    SIM_TRY(check_bytes(bytes));
    SIM_TRY(sim_queue_buffer_pack(bytes, &parcel));
    enum sim_passage passage =
        sim_queue_put(queue, &sim_queue_buffers, parcel, (struct sim_patience){timeout, NULL});
    if (passage != SIM_PASSED)
        drop_parcel(parcel);
    return sim_queue_outcome(passage, queue, timeout, true);
}

aclError sim_queue_buffer_take_bytes(uint32_t queue, const struct sim_queue_bytes *bytes, size_t *size, int32_t timeout)
{
    struct sim_parcel *parcel;
    uint64_t room = bytes->qb_size;
    SIM_TRY(check_bytes(bytes));
    enum sim_passage passage =
        sim_queue_take(queue, &sim_queue_buffers, &parcel, &room, (struct sim_patience){timeout, NULL});
    if (passage == SIM_PASSAGE_SHORT) {
        *size = room;
        return sim_refuse(ACL_ERROR_INVALID_PARAM,
                          "dataSize is %llu, expected at least %llu, the size of the next item in queue %u",
                          (unsigned long long)bytes->qb_size, (unsigned long long)room, queue);
    }
    SIM_TRY(sim_queue_outcome(passage, queue, timeout, false));
    aclError code = check_bytes(bytes); /* the memory may have been freed during the wait */
    if (code != ACL_SUCCESS) {
        drop_parcel(parcel);
        return code;
    }
    *size = parcel->pa_bytes;
    sim_queue_buffer_unpack(parcel, bytes);
    return ACL_SUCCESS;
}

/* ---- reset and fork ---- */

void sim_queue_buffer_reset(void)
{
    sim_lock(&lock);
    for (uint32_t i = 1; i < atomic_load_explicit(&buffers.tb_count, memory_order_acquire); i++) {
        struct buffer *buffer = sim_table_at(&buffers, i);
        struct content *content = buffer->bu_content;
        bool live = atomic_load_explicit(&buffer->bu_slot.sl_handle, memory_order_relaxed) != 0;
        if (!live || content == NULL || content->co_head != NULL) /* freed with its head */
            continue;
        end_handles(content);
        drop(content);
    }
    sim_unlock(&lock);
}

void sim_queue_buffer_after_fork(void)
{
    sim_lock_renew(&lock);
    sim_table_empty(&buffers);
}
