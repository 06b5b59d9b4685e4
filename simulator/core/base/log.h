/* The application log (aclAppLog). The vendor's variables choose what is written:
 *   ASCEND_GLOBAL_LOG_LEVEL       0 debug, 1 info, 2 warning, 3 error (default), 4 nothing
 *   ASCEND_SLOG_PRINT_TO_STDOUT   1: to standard output, else to standard error
 * There are no log files. */
#ifndef SIM_LOG_H
#define SIM_LOG_H

#include <acl/acl.h>
#include <stdarg.h>
#include <stdbool.h>

/* True when messages of this level are written. */
bool sim_log_is_on(aclLogLevel level);

/* Writes one line at once, so that lines of several threads do not mix. */
void sim_log_write(aclLogLevel level, const char *function, const char *file, uint32_t line, const char *format,
                   va_list arguments) __attribute__((format(printf, 5, 0)));

#endif
