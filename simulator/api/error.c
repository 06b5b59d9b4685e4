/* Entry points of errors: the message and the code of the last error, and the application log. */
#include "base/fail.h"
#include "base/log.h"

#include <stdarg.h>

const char *aclGetRecentErrMsg(void)
{
    SIM_ENTER();
    return sim_fail_take();
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    SIM_ENTER();
    if (fmt == NULL || !sim_log_is_on(logLevel))
        return;
    va_list arguments;
    va_start(arguments, fmt);
    sim_log_write(logLevel, func, file, line, fmt, arguments);
    va_end(arguments);
}

static aclError check_level(aclrtLastErrLevel level)
{
    SIM_ARGUMENT(level == ACL_RT_THREAD_LEVEL, ACL_ERROR_INVALID_PARAM,
                 "level is %d, expected ACL_RT_THREAD_LEVEL (0)", level);
    return ACL_SUCCESS;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    SIM_ENTER();
    SIM_TRY(check_level(level));
    return sim_thread.th_last_error;
}

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    SIM_ENTER();
    SIM_TRY(check_level(level));
    aclError code = sim_thread.th_last_error;
    sim_thread.th_last_error = ACL_SUCCESS;
    return code;
}
