/* Events: points in a stream that the host, other streams and clocks can refer to. */

#define ACL_EVENT_SYNC 0x1U
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x2U
#define ACL_EVENT_TIME_LINE 0x8U
#define ACL_EVENT_EXTERNAL 0x20U
#define ACL_EVENT_DEVICE_USE_ONLY 0x10U
#define ACL_EVENT_IPC 0x40U
#define ACL_EVENT_RECORD_DEFAULT 0
#define ACL_EVENT_RECORD_EXTERNAL 1
#define ACL_EVENT_WAIT_DEFAULT 0
#define ACL_EVENT_WAIT_EXTERNAL 1

typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 65535,
} aclrtEventWaitStatus;

/** Create an event.
 *  rt.create_event() -> (event, ret) */
ACL_API(8, 1) aclError aclrtCreateEvent(aclrtEvent *event);

/** Create an event for the uses given by the ACL_EVENT_* flags.
 *  rt.create_event_with_flag(flag) -> (event, ret) */
ACL_API(8, 1) aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);

/** Create an event that takes no device resource until it is recorded, for the uses given by the flags.
 *  rt.create_event_ex_with_flag(flag) -> (event, ret) */
ACL_API(8, 1) aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);

/** Destroy an event.
 *  rt.destroy_event(event) -> ret */
ACL_API(8, 1) aclError aclrtDestroyEvent(aclrtEvent event);

/** Queue a record of the event on the stream.
 *  rt.record_event(event, stream) -> ret */
ACL_API(8, 1) aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/** Queue a record of the event; ACL_EVENT_RECORD_EXTERNAL makes it visible outside a capture.
 *  rt.record_event_with_flag(event, stream, flag) -> ret @extension */
ACL_API(9, 2) aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);

/** Queue a reset of the event on the stream, so that it can be recorded again.
 *  rt.reset_event(event, stream) -> ret */
ACL_API(8, 1) aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/** Make later work of the stream wait for the event's newest record.
 *  rt.stream_wait_event(stream, event) -> ret */
ACL_API(8, 1) aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/** Make later work of the stream wait for the event, at most timeout seconds (0: for ever). */
ACL_API(8, 5) aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout);

/** Make later work of the stream wait for the event; ACL_EVENT_WAIT_EXTERNAL: it is recorded outside the capture.
 *  rt.stream_wait_event_with_flag(stream, event, timeout, flag) -> ret @extension */
ACL_API(9, 2) aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
    uint32_t flag);

/** Deprecated: use aclrtQueryEventStatus. Query whether the event is complete.
 *  rt.query_event(event) -> (status, ret) */
ACL_API(8, 1) aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);

/** Query whether all work before the event's newest record is done.
 *  rt.query_event_status(event) -> (status, ret) */
ACL_API(8, 1) aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status);

/** Query whether all waits for the event are over.
 *  rt.query_event_wait_status(event) -> (status, ret) */
ACL_API(8, 1) aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status);

/** Wait on the host for the event's newest record.
 *  rt.synchronize_event(event) -> ret */
ACL_API(8, 1) aclError aclrtSynchronizeEvent(aclrtEvent event);

/** Wait on the host for the event, at most timeout milliseconds (-1: for ever).
 *  rt.synchronize_event_with_timeout(event, timeout) -> ret */
ACL_API(8, 1) aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/** Milliseconds between the completion of two recorded events.
 *  rt.event_elapsed_time(startEvent, endEvent) -> (ms, ret) */
ACL_API(8, 1) aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent);

/** The device time at which a recorded event completed.
 *  rt.event_get_timestamp(event) -> (timestamp, ret) */
ACL_API(8, 1) aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp);

/** The id of an event.
 *  rt.get_event_id(event) -> (eventId, ret) */
ACL_API(8, 5) aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId);

/** Number of events that can still be created on the current device.
 *  rt.get_event_avail_num() -> (eventCount, ret) */
ACL_API(8, 5) aclError aclrtGetEventAvailNum(uint32_t *eventCount);
