/* Programs with one mistake each in the order of their work, by the name of the first argument. Each prints the right
 * values where tasks run as soon as they are queued. The last one is right under every schedule.
 *
 * Device memory begins as zeros; `in` and `out` are pinned, so that copies are queued. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 4
#define CHUNKS 4

static aclrtStream one, two, three;
static aclrtEvent event, other;
static unsigned char *in, *out;
static unsigned char *a, *b, *c;

static void must(aclError code, int line)
{
    if (code != ACL_SUCCESS) {
        printf("line %d: %d\n", line, code);
        exit(1);
    }
}
#define MUST(call) must(call, __LINE__)

static void set(void *block, int value, aclrtStream stream)
{
    MUST(aclrtMemsetAsync(block, BYTES, value, BYTES, stream));
}

static void copy(void *to, const void *from, aclrtStream stream)
{
    MUST(aclrtMemcpyAsync(to, BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

static void fetch(void *to, const void *from, aclrtStream stream)
{
    MUST(aclrtMemcpyAsync(to, BYTES, from, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

static void show(const unsigned char *bytes, int count)
{
    for (int i = 0; i < count; i++)
        printf("%d%c", bytes[i], i == count - 1 ? '\n' : ' ');
}

static void finish(void)
{
    MUST(aclrtSynchronizeStream(one));
    MUST(aclrtSynchronizeStream(two));
    MUST(aclrtSynchronizeStream(three));
}

/* The host reads the result without having waited for it. */
static void missing_synchronize(void)
{
    set(a, 7, one);
    MUST(aclrtMemcpy(out, BYTES, a, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    show(out, 1);
}

/* The second stream reads what the first one writes, and does not wait for it. */
static void missing_wait(void)
{
    set(a, 7, one);
    fetch(out, a, two);
    finish();
    show(out, 1);
}

/* The event is recorded before the last task that it stands for. */
static void early_record(void)
{
    set(a, 7, one);
    MUST(aclrtRecordEvent(event, one));
    copy(b, a, one);
    MUST(aclrtStreamWaitEvent(two, event));
    fetch(out, b, two);
    MUST(aclrtSynchronizeStream(two));
    show(out, 1);
}

/* The second stream waits for the event of the third one instead of that of the first. */
static void wrong_event(void)
{
    set(a, 7, one);
    MUST(aclrtRecordEvent(event, one));
    set(b, 8, three);
    MUST(aclrtRecordEvent(other, three));
    MUST(aclrtStreamWaitEvent(two, other));
    copy(c, a, two);
    finish();
    fetch(out, c, two);
    MUST(aclrtSynchronizeStream(two));
    show(out, 1);
}

/* The host fills its buffer again while the copy of its first content is still queued. */
static void staging_reuse(void)
{
    unsigned char *blocks[] = {a, b};
    for (int i = 0; i < 2; i++) {
        memset(in, i + 1, BYTES);
        MUST(aclrtMemcpyAsync(blocks[i], BYTES, in, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, one));
    }
    fetch(out, a, one);
    fetch(out + BYTES, b, one);
    MUST(aclrtSynchronizeStream(one));
    printf("%d %d\n", out[0], out[BYTES]);
}

/* The second stream overwrites what the first one still has to read. */
static void write_after_read(void)
{
    set(a, 7, one);
    MUST(aclrtSynchronizeStream(one));
    copy(b, a, one);
    set(a, 9, two);
    finish();
    fetch(out, b, one);
    MUST(aclrtSynchronizeStream(one));
    show(out, 1);
}

/* Two streams change one byte each of the same block, by a copy of it that they write back. */
static void lost_update(void)
{
    unsigned char *copies[] = {b, c};
    aclrtStream streams[] = {one, two};
    for (int i = 0; i < 2; i++) {
        copy(copies[i], a, streams[i]);
        MUST(aclrtMemsetAsync(copies[i] + i, 1, 1, 1, streams[i]));
        copy(a, copies[i], streams[i]);
    }
    finish();
    fetch(out, a, one);
    MUST(aclrtSynchronizeStream(one));
    show(out, 2);
}

/* Two branches of a captured graph use the same block, and only their beginning and end are ordered. */
static void captured_branches(void)
{
    aclmdlRI graph;
    aclrtEvent fork, join;
    MUST(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    MUST(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
    MUST(aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtRecordEvent(fork, one));
    MUST(aclrtStreamWaitEvent(two, fork));
    set(a, 7, two);
    MUST(aclrtRecordEvent(join, two));
    copy(b, a, one);
    MUST(aclrtStreamWaitEvent(one, join));
    MUST(aclmdlRICaptureEnd(one, &graph));
    MUST(aclmdlRIExecuteAsync(graph, one));
    fetch(out, b, one);
    MUST(aclrtSynchronizeStream(one));
    show(out, 1);
}

/* The block is freed while the copy from it is queued: the synchronisation fails. */
static void early_free(void)
{
    void *block;
    MUST(aclrtMalloc(&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    set(block, 7, one);
    copy(a, block, one);
    MUST(aclrtFree(block));
    printf("%d\n", aclrtSynchronizeStream(one));
}

/* Each chunk waits for its data, but a buffer is filled again without a wait for the copy of its former chunk. */
static void two_buffers(void)
{
    unsigned char *buffers[] = {a, b};
    for (int i = 0; i < CHUNKS; i++) {
        set(buffers[i % 2], i + 1, one);
        MUST(aclrtRecordEvent(event, one));
        MUST(aclrtStreamWaitEvent(two, event));
        fetch(out + i * BYTES, buffers[i % 2], two);
    }
    finish();
    for (int i = 0; i < CHUNKS; i++)
        printf("%d ", out[i * BYTES]);
    printf("\n");
}

/* Nothing is missing: each buffer waits for its former chunk. */
static void right(void)
{
    unsigned char *buffers[] = {a, b};
    for (int i = 0; i < CHUNKS; i++) {
        set(buffers[i % 2], i + 1, one);
        MUST(aclrtRecordEvent(event, one));
        MUST(aclrtStreamWaitEvent(two, event));
        fetch(out + i * BYTES, buffers[i % 2], two);
        MUST(aclrtRecordEvent(other, two));
        MUST(aclrtStreamWaitEvent(one, other));
    }
    finish();
    for (int i = 0; i < CHUNKS; i++)
        printf("%d ", out[i * BYTES]);
    printf("\n");
}

#define PROGRAM(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    PROGRAM(missing_synchronize), PROGRAM(missing_wait), PROGRAM(early_record), PROGRAM(wrong_event),
    PROGRAM(staging_reuse), PROGRAM(write_after_read), PROGRAM(lost_update), PROGRAM(captured_branches),
    PROGRAM(early_free), PROGRAM(two_buffers), PROGRAM(right),
};

int main(int count, char **arguments)
{
    void **blocks[] = {(void **)&a, (void **)&b, (void **)&c};
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&one));
    MUST(aclrtCreateStream(&two));
    MUST(aclrtCreateStream(&three));
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtCreateEvent(&other));
    MUST(aclrtMallocHost((void **)&in, BYTES));
    MUST(aclrtMallocHost((void **)&out, CHUNKS * BYTES));
    memset(out, 0, CHUNKS * BYTES);
    for (int i = 0; i < 3; i++) {
        MUST(aclrtMalloc(blocks[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemset(*blocks[i], BYTES, 0, BYTES));
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (count != 2 || strcmp(arguments[1], programs[i].name) != 0)
            continue;
        programs[i].run();
        aclrtResetDeviceForce(0);
        return 0;
    }
    fprintf(stderr, "expected one of:");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        fprintf(stderr, " %s", programs[i].name);
    fprintf(stderr, "\n");
    return 2;
}
