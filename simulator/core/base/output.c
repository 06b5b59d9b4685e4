/* Directories and files that the simulator writes for programs (output.h).
 *
 * A file owns its descriptor and remembers its first failure and the process that opened it. There is no lock except
 * that of the C stream. Signals are blocked per thread; the file size limit is raised for the process, only during one
 * call. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool sim_output_base(const char *path)
{
    return (mkdir(path, 0777) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

bool sim_output_directory(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return false;
    for (char *at = copy + 1; *copy != '\0' && *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        mkdir(copy, 0777); /* a failure shows in sim_output_base */
        *at = '/';
    }
    free(copy);
    return sim_output_base(path);
}

void sim_output_path(const char *pattern, char *path, size_t size)
{
    size_t length = 0;
    for (const char *at = pattern; *at != '\0' && length < size - 1; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            int digits = snprintf(path + length, size - length, "%d", (int)getpid());
            length += digits > 0 ? (size_t)digits : 0;
            at++;
        } else {
            path[length++] = *at;
        }
    }
    path[length < size ? length : size - 1] = '\0';
}

/* ---- files ---- */

struct target {
    int ta_file;
    int ta_reason; /* errno of the first write that failed; 0: none */
    pid_t ta_owner;
};

/* Writes data, or sets the size if `data` is NULL, with the signals blocked that would end the program. Removes a
 * signal that the call has raised. */
static ssize_t write_blocked(int file, const char *data, size_t size)
{
    static const struct timespec at_once;
    sigset_t ending, before, pending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGXFSZ);
    sigaddset(&ending, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
    ssize_t written = data != NULL ? write(file, data, size) : ftruncate(file, (off_t)size);
    int reason = errno;
    if (written < 0 && ((reason == EFBIG && !sigismember(&pending, SIGXFSZ)) ||
                        (reason == EPIPE && !sigismember(&pending, SIGPIPE))))
        sigtimedwait(&ending, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return written;
}

int sim_output_put(int file, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write_blocked(file, data + done, size - done);
        if (written < 0 && errno != EINTR)
            return errno;
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* The limit is meant for disks. It belongs to the process, so it is raised only during one call. */
int sim_output_resize(int file, uint64_t size)
{
    struct rlimit limit, raised;
    if (write_blocked(file, NULL, size) == 0)
        return 0;
    if (errno != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return -1;
    raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &raised);
    ssize_t resized = write_blocked(file, NULL, size);
    int reason = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = reason;
    return (int)resized;
}

static ssize_t write_target(void *cookie, const char *data, size_t size)
{
    struct target *target = cookie;
    if (getpid() == target->ta_owner && target->ta_reason == 0)
        target->ta_reason = sim_output_put(target->ta_file, data, size);
    return target->ta_reason == 0 ? (ssize_t)size : 0;
}

static int seek_target(void *cookie, off64_t *offset, int whence)
{
    struct target *target = cookie;
    off64_t at = lseek64(target->ta_file, *offset, whence);
    if (at < 0)
        return -1;
    *offset = at;
    return 0;
}

static int close_target(void *cookie)
{
    struct target *target = cookie;
    int reason = target->ta_reason;
    if (close(target->ta_file) != 0 && reason == 0)
        reason = errno;
    free(target);
    errno = reason;
    return reason == 0 ? 0 : -1;
}

FILE *sim_output_open(const char *path)
{
    /* Opening does not wait for the reader of a pipe; writing does. */
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    struct target *target = descriptor >= 0 ? malloc(sizeof *target) : NULL;
    if (descriptor < 0)
        return NULL;
    fcntl(descriptor, F_SETFL, 0);
    FILE *file = NULL;
    if (target != NULL) {
        *target = (struct target){.ta_file = descriptor, .ta_owner = getpid()};
        file = fopencookie(target, "w", (cookie_io_functions_t){.write = write_target, .seek = seek_target,
                                                                .close = close_target});
    }
    if (file == NULL) {
        free(target);
        close(descriptor);
        errno = ENOMEM;
    }
    return file;
}

bool sim_output_close(FILE *file)
{
    return fclose(file) == 0;
}

bool sim_output_write(const char *path, const void *data, size_t size)
{
    FILE *file = sim_output_open(path);
    if (file == NULL)
        return false;
    fwrite(data, 1, size, file); /* a failure shows when the file is closed */
    return sim_output_close(file);
}

size_t sim_output_text(FILE *file, const char *text)
{
    size_t count = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        int written = *at < 0x20                  ? fprintf(file, "\\u%04x", *at)
                      : *at == '"' || *at == '\\' ? fprintf(file, "\\%c", *at)
                                                  : fprintf(file, "%c", *at);
        count += written > 0 ? (size_t)written : 0;
    }
    return count;
}
