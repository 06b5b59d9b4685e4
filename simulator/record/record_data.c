/* The bytes of host memory that calls read and fill (record_data.h).
 *
 * An asynchronous copy to the host is kept until its stream or its device is synchronised, or an event that was
 * recorded behind it. Its memory may be gone by then, so that all memory of the program is read by the kernel, which
 * reports an address that cannot be read. The lock of record.c guards the list. */
#include "record_data.h"
#include "record_names.h"

#include <acl/acl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u
#define BETWEEN_DEVICES                                                                                                \
    (1u << ACL_MEMCPY_DEVICE_TO_DEVICE | 1u << ACL_MEMCPY_INNER_DEVICE_TO_DEVICE |                                     \
     1u << ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
#define TO_DEVICE (1u << ACL_MEMCPY_HOST_TO_DEVICE | 1u << ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)

/* Rows of bytes; a plain buffer is one row. */
struct area {
    uint64_t ar_start, ar_bytes, ar_rows, ar_pitch;
};

/* A copy, or with an event the record of that event behind the copies before it. */
struct pending {
    uint64_t pd_stream, pd_event;
    int32_t pd_device;
    struct area pd_area;
    uint32_t pd_thread, pd_number;
};

static struct pending *pending;
static size_t pending_count, pending_room;

size_t sim_record_data_read(void *to, uint64_t address, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t page = PAGE - (address + done) % PAGE, part = size - done < page ? size - done : page;
        struct iovec here = {(char *)to + done, part}, there = {(void *)(uintptr_t)(address + done), part};
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)part)
            break;
        done += part;
    }
    return done;
}

/* ---- checksums: the CRC-32 of zlib ---- */

static uint32_t add_to_checksum(uint32_t sum, const unsigned char *bytes, size_t size)
{
    static uint32_t table[256];
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT32_C(0xedb88320) : 0);
        table[i] = value;
    }
    for (size_t i = 0; i < size; i++)
        sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 255];
    return sum;
}

/* Writes the size, the checksum and the first bytes of an area; the size alone if the area cannot be read. */
static void put_area(FILE *to, const char *name, const struct area *area, const struct pending *copy)
{
    unsigned char bytes[PAGE], head[SIM_RECORD_HEAD];
    uint64_t total = 0;
    uint32_t sum = UINT32_MAX;
    bool whole = true;
    for (uint64_t row = 0; row < area->ar_rows && whole; row++) {
        uint64_t start = area->ar_start + row * area->ar_pitch;
        for (uint64_t done = 0; done < area->ar_bytes && whole;) {
            size_t part = area->ar_bytes - done < PAGE ? (size_t)(area->ar_bytes - done) : PAGE;
            whole = sim_record_data_read(bytes, start + done, part) == part;
            sum = whole ? add_to_checksum(sum, bytes, part) : sum;
            for (size_t i = 0; whole && i < part && total + i < sizeof head; i++)
                head[total + i] = bytes[i];
            done += part;
            total += whole ? part : 0;
        }
    }
    fprintf(to, "{\"name\":\"%s\"", name);
    if (copy != NULL)
        fprintf(to, ",\"copy\":[%u,%u]", copy->pd_thread, copy->pd_number);
    fprintf(to, ",\"bytes\":%" PRIu64, area->ar_bytes * area->ar_rows);
    if (whole) {
        fprintf(to, ",\"crc32\":\"%08x\",\"head\":\"", ~sum);
        for (uint64_t i = 0; i < total && i < sizeof head; i++)
            fprintf(to, "%02x", head[i]);
        fputc('"', to);
    }
    fputc('}', to);
}

/* ---- what a copy touches ---- */

static uint64_t argument(const struct sim_record_call *call, int8_t place, uint64_t otherwise)
{
    return place >= 0 ? call->cl_given[place] : otherwise;
}

/* The area of a copy's target or source, and of a batch's part. False: it is not in the memory of the host. */
static bool find_area(const struct sim_record_call *call, bool is_target, uint64_t part, struct area *area)
{
    const struct sim_record_places *places = call->cl_function->fn_places;
    uint64_t kind = argument(call, places->pl_kind, ACL_MEMCPY_DEFAULT);
    uint32_t device_kinds = BETWEEN_DEVICES | (is_target ? TO_DEVICE : 1u << ACL_MEMCPY_DEVICE_TO_HOST);
    bool on_device = kind < 32 && (device_kinds >> kind & 1) != 0;
    *area = (struct area){.ar_start = argument(call, is_target ? places->pl_to : places->pl_from, 0),
                          .ar_bytes = argument(call, places->pl_bytes, 0),
                          .ar_rows = argument(call, places->pl_rows, 1),
                          .ar_pitch = argument(call, is_target ? places->pl_to_pitch : places->pl_from_pitch, 0)};
    if (places->pl_role == SIM_RECORD_COPY_BATCH) {
        uint64_t starts = area->ar_start + part * sizeof(uint64_t), sizes = area->ar_bytes + part * sizeof(uint64_t);
        area->ar_rows = 1;
        if (sim_record_data_read(&area->ar_start, starts, sizeof starts) != sizeof starts ||
            sim_record_data_read(&area->ar_bytes, sizes, sizeof sizes) != sizeof sizes)
            return false;
    }
    return !on_device && area->ar_start != 0 && area->ar_bytes != 0 && !sim_record_names_is_device(area->ar_start);
}

static uint64_t parts_of(const struct sim_record_call *call)
{
    const struct sim_record_places *places = call->cl_function->fn_places;
    return places->pl_role == SIM_RECORD_COPY_BATCH ? argument(call, places->pl_rows, 0) : 1;
}

static void put_areas(const struct sim_record_call *call, bool is_target)
{
    struct area area;
    const char *before = is_target ? ",\"filled\":[" : ",\"read\":[", *opening = before;
    for (uint64_t part = 0; part < parts_of(call); part++)
        if (find_area(call, is_target, part, &area)) {
            fputs(before, call->cl_line);
            put_area(call->cl_line, is_target ? "dst" : "src", &area, NULL);
            before = ",";
        }
    fputs(before != opening ? "]" : "", call->cl_line);
}

/* ---- copies that were not waited for yet ---- */

static void add_pending(const struct pending *one)
{
    if (pending_count == pending_room) {
        size_t room = pending_room * 2 + 64;
        struct pending *more = realloc(pending, room * sizeof *more);
        if (more == NULL)
            return; /* its bytes are left out */
        pending = more;
        pending_room = room;
    }
    pending[pending_count++] = *one;
}

static void drop_event(uint64_t event)
{
    size_t left = 0;
    for (size_t i = 0; i < pending_count; i++)
        if (pending[i].pd_event != event)
            pending[left++] = pending[i];
    pending_count = left;
}

static void keep(const struct sim_record_call *call)
{
    const struct sim_record_places *places = call->cl_function->fn_places;
    struct pending one = {.pd_stream = argument(call, places->pl_stream, 0),
                          .pd_event = argument(call, places->pl_event, 0),
                          .pd_device = call->cl_device,
                          .pd_thread = call->cl_thread,
                          .pd_number = call->cl_number};
    if (call->cl_captured)
        return;
    if (one.pd_event != 0) {
        drop_event(one.pd_event); /* a wait is for the newest record */
        add_pending(&one);
        return;
    }
    for (uint64_t part = 0; part < parts_of(call); part++)
        if (find_area(call, true, part, &one.pd_area))
            add_pending(&one);
}

/* Writes the copies that were waited for, and drops them: those before `end` in the list on a stream, or with `all` on
 * every stream, of a device. */
static void put_pending(FILE *to, int32_t device, uint64_t stream, bool all, size_t end)
{
    size_t left = 0;
    bool any = false;
    for (size_t i = 0; i < pending_count; i++) {
        const struct pending *one = &pending[i];
        if (i >= end || one->pd_device != device || !(all || one->pd_stream == stream)) {
            pending[left++] = *one;
            continue;
        }
        if (one->pd_event != 0)
            continue;
        fputs(any ? "," : ",\"filled\":[", to);
        put_area(to, "dst", &one->pd_area, one);
        any = true;
    }
    fputs(any ? "]" : "", to);
    pending_count = left;
}

/* ---- calls ---- */

static bool is_captured(uint64_t stream)
{
    __typeof__(aclmdlRICaptureGetInfo) *ask =
        (__typeof__(aclmdlRICaptureGetInfo) *)(uintptr_t)sim_record_next("aclmdlRICaptureGetInfo");
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI instance;
    return ask != NULL && stream != 0 && ask((aclrtStream)(uintptr_t)stream, &status, &instance) == ACL_SUCCESS &&
           status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

static int32_t current_device(void)
{
    __typeof__(aclrtGetDevice) *ask = (__typeof__(aclrtGetDevice) *)(uintptr_t)sim_record_next("aclrtGetDevice");
    int32_t device = -1;
    return ask != NULL && ask(&device) == ACL_SUCCESS ? device : -1;
}

void sim_record_data_ask(struct sim_record_call *call)
{
    const struct sim_record_places *places = call->cl_function->fn_places;
    call->cl_device = places != NULL ? current_device() : -1;
    call->cl_captured = places != NULL && places->pl_stream >= 0 && is_captured(call->cl_given[places->pl_stream]);
}

void sim_record_data_before(const struct sim_record_call *call)
{
    const struct sim_record_places *places = call->cl_function->fn_places;
    if (places != NULL && places->pl_role <= SIM_RECORD_COPY_BATCH && places->pl_stream < 0)
        put_areas(call, false);
}

void sim_record_data_after(const struct sim_record_call *call)
{
    const struct sim_record_places *places = call->cl_function->fn_places;
    if (places == NULL)
        return;
    switch (places->pl_role) {
    case SIM_RECORD_COPY:
    case SIM_RECORD_COPY_BATCH:
        if (places->pl_stream >= 0)
            keep(call);
        else
            put_areas(call, true);
        break;
    case SIM_RECORD_RECORD_EVENT:
        keep(call);
        break;
    case SIM_RECORD_SYNCHRONIZE_STREAM:
        put_pending(call->cl_line, call->cl_device, argument(call, places->pl_stream, 0), false, pending_count);
        break;
    case SIM_RECORD_SYNCHRONIZE_DEVICE:
        put_pending(call->cl_line, call->cl_device, 0, true, pending_count);
        break;
    case SIM_RECORD_SYNCHRONIZE_EVENT:
        for (size_t i = 0; i < pending_count; i++)
            if (pending[i].pd_event == argument(call, places->pl_event, 0)) {
                put_pending(call->cl_line, pending[i].pd_device, pending[i].pd_stream, false, i + 1);
                break;
            }
        break;
    }
}

void sim_record_data_clear(void)
{
    pending_count = 0;
}
