/* The application log (log.h): one line per message, written at once to standard error or standard output.
 *
 * The vendor's variables are read for each message. There is no shared state, and no lock except that of the C
 * stream. */
#include "log.h"
#include "fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 2048

bool sim_log_is_on(aclLogLevel level)
{
    const char *chosen = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    int least = chosen != NULL && *chosen >= '0' && *chosen <= '4' ? *chosen - '0' : ACL_ERROR;
    return level >= ACL_DEBUG && level <= ACL_ERROR && (int)level >= least;
}

void sim_log_write(aclLogLevel level, const char *function, const char *file, uint32_t line, const char *format,
                   va_list arguments)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    char text[LINE_BYTES];
    int used = snprintf(text, sizeof text, "[%s] APP(%d,%u) [%.200s:%u] %.200s: ", names[level], (int)getpid(),
                        sim_thread_number(), slash != NULL ? slash + 1 : file != NULL ? file : "?", line,
                        function != NULL ? function : "?");
    size_t room = sizeof text - 1 - (size_t)used;
    int length = vsnprintf(text + used, room, format, arguments);
    size_t size = (size_t)used + (length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1);
    text[size++] = '\n';
    const char *to_output = getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    FILE *stream = to_output != NULL && strcmp(to_output, "1") == 0 ? stdout : stderr;
    fwrite(text, 1, size, stream);
    fflush(stream);
}
