/* The functions of AscendCL that the rows use, on the sketch. It is found before the header of the package when a twin
 * is compiled against the sketch. Arguments that the sketch has no use for are ignored. */
#ifndef SKETCH_ACL_H
#define SKETCH_ACL_H

#include "../sketch.h"

typedef int aclError;
typedef sketch_stream aclrtStream;
typedef sketch_event aclrtEvent;
typedef sketch_graph aclmdlRI;
typedef void *aclrtContext;
typedef int aclrtStreamStatus;

enum { ACL_SUCCESS = SKETCH_OK };
enum { ACL_MEM_MALLOC_HUGE_FIRST };
enum { ACL_MEMCPY_HOST_TO_DEVICE };
enum { ACL_EVENT_SYNC };
enum { ACL_MODEL_RI_CAPTURE_MODE_RELAXED };
enum { ACL_STREAM_STATUS_COMPLETE, ACL_STREAM_STATUS_NOT_READY };

static inline const char *aclGetRecentErrMsg(void)
{
    return NULL;
}

static inline aclError aclInit(const char *path)
{
    (void)path;
    sketch_open();
    return ACL_SUCCESS;
}

static inline aclError aclrtSetDevice(int device)
{
    (void)device;
    sketch_enter();
    return ACL_SUCCESS;
}

#define aclrtCreateStream(stream) sketch_stream_create(stream)
#define aclrtDestroyStream(stream) sketch_stream_destroy(stream)
#define aclrtSynchronizeStream(stream) sketch_stream_sync(stream)
#define aclrtStreamWaitEvent(stream, event) sketch_stream_wait(stream, event)
#define aclrtCreateEventExWithFlag(event, flag) sketch_event_create(event)
#define aclrtRecordEvent(event, stream) sketch_event_record(event, stream)
#define aclrtSynchronizeEvent(event) sketch_event_sync(event)
#define aclrtMalloc(block, size, policy) sketch_malloc(block, size)
#define aclrtFree(block) sketch_free(block)
#define aclrtMemsetAsync(target, room, value, size, stream) sketch_set(stream, target, value, size)
#define aclrtMemcpy(target, room, source, size, kind) sketch_copy(target, source, size)
#define aclmdlRICaptureBegin(stream, mode) sketch_capture_begin(stream)
#define aclmdlRICaptureEnd(stream, graph) sketch_capture_end(stream, graph)
#define aclmdlRIExecuteAsync(graph, stream) sketch_replay(graph, stream)
#define aclmdlRIDestroy(graph) sketch_graph_destroy(graph)

static inline aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status)
{
    int code = sketch_stream_query(stream);
    *status = code == SKETCH_OK ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return code == SKETCH_NOT_READY ? ACL_SUCCESS : code;
}

static inline aclError aclrtMemset(void *target, size_t room, int value, size_t size)
{
    (void)room;
    int code = sketch_set(NULL, target, value, size);
    return code != SKETCH_OK ? code : sketch_stream_sync(NULL);
}

#endif
