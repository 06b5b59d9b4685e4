/* The file of a recording (record_file.h).
 *
 * It is opened at the first call, so that a shell that starts the program has none. A lock on it keeps a second process
 * from writing over it. Each line is one write, so that a program that crashes leaves whole lines. The lock of record.c
 * guards all of it. */
#include "record_file.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static int file = -1;
static bool refused; /* nothing more is recorded */
static char path[PATH_MAX];

static void stop(void)
{
    if (file >= 0)
        close(file);
    file = -1;
}

static bool refuse(const char *reason)
{
    fprintf(stderr, "acl: ACL_RECORD_CALLS: cannot write %s: %s; calls are not recorded\n", path, reason);
    refused = true;
    stop();
    return false;
}

bool sim_record_file_open(void)
{
    const char *pattern = getenv("ACL_RECORD_CALLS");
    if (file >= 0 || refused || pattern == NULL || *pattern == '\0')
        return file >= 0;
    sim_output_path(pattern, path, sizeof path);
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_APPEND, 0666);
    if (file < 0)
        return refuse(strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return refuse("another process writes it; put %p, the number of the process, into the name");
    /* Neither this nor the lock is possible with a pipe or a terminal, which can be written without them. */
    if (ftruncate(file, 0) != 0 && errno != EINVAL)
        return refuse(strerror(errno));
    fcntl(file, F_SETFL, O_APPEND);
    char line[128];
    int size = snprintf(line, sizeof line,
                        "{\"format\":\"ascendcl calls\",\"version\":1,\"process\":%d,\"time\":%lld}\n", (int)getpid(),
                        (long long)time(NULL));
    sim_record_file_write(line, (size_t)size);
    return file >= 0;
}

void sim_record_file_write(const char *line, size_t size)
{
    int reason = sim_output_put(file, line, size);
    if (reason != 0)
        refuse(strerror(reason));
}

void sim_record_file_after_fork(void)
{
    const char *pattern = getenv("ACL_RECORD_CALLS");
    refused |= pattern != NULL && strstr(pattern, "%p") == NULL;
    stop();
}
