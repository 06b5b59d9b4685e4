/* The last error of a thread, its message, and the log. */

typedef enum aclLogLevel {
    ACL_DEBUG = 0,
    ACL_INFO = 1,
    ACL_WARNING = 2,
    ACL_ERROR = 3,
} aclLogLevel;

typedef enum aclrtLastErrLevel {
    ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

/** Return the message of this thread's last failure and clear it; NULL if there is no message.
 *  acl.get_recent_err_msg() -> value */
ACL_API(8, 1) const char *aclGetRecentErrMsg(void);

/** Return this thread's last runtime error and clear it.
 *  rt.get_last_error(level) -> ret */
ACL_API(8, 1) aclError aclrtGetLastError(aclrtLastErrLevel level);

/** Return this thread's last runtime error without clearing it.
 *  rt.peek_at_last_error(level) -> ret */
ACL_API(8, 1) aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/** Write one formatted line to the log, with its source location.
 *  acl.app_log(logLevel, fmt:str) -> None @py */
ACL_API(8, 1) void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt,
    ...);
