/* The file of a recording (record_file.h).
 *
 * It is opened at the first call, so that a shell that starts the program has none. A lock on the file keeps a second
 * process from writing over it; it belongs to a descriptor of its own, because opening the file empties it. Each line
 * is one write, so that a program that crashes leaves whole lines. The lock of record.c guards all of it. */
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

static FILE *file;
static int guard = -1; /* has the lock */
static bool refused;   /* nothing more is recorded */
static char path[PATH_MAX];

static void refuse(const char *reason)
{
    fprintf(stderr, "acl: ACL_RECORD_CALLS: cannot write %s: %s; calls are not recorded\n", path, reason);
    refused = true;
}

bool sim_record_file_open(void)
{
    const char *pattern = getenv("ACL_RECORD_CALLS");
    if (file != NULL || refused || pattern == NULL || *pattern == '\0')
        return file != NULL;
    sim_output_path(pattern, path, sizeof path);
    guard = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (guard >= 0 && flock(guard, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        refuse("another process writes it; put %p, the number of the process, into the name");
        return false;
    }
    file = guard >= 0 ? sim_output_open(path) : NULL;
    if (file == NULL) {
        refuse(strerror(errno));
        return false;
    }
    setvbuf(file, NULL, _IONBF, 0);
    char line[128];
    int size = snprintf(line, sizeof line,
                        "{\"format\":\"ascendcl calls\",\"version\":1,\"process\":%d,\"time\":%lld}\n", (int)getpid(),
                        (long long)time(NULL));
    sim_record_file_write(line, (size_t)size);
    return file != NULL;
}

static void close_both(void)
{
    sim_output_close(file);
    close(guard);
    file = NULL;
    guard = -1;
}

void sim_record_file_write(const char *line, size_t size)
{
    if (fwrite(line, 1, size, file) == size)
        return;
    refuse(strerror(errno));
    close_both();
}

void sim_record_file_after_fork(void)
{
    const char *pattern = getenv("ACL_RECORD_CALLS");
    refused |= pattern != NULL && strstr(pattern, "%p") == NULL;
    if (file != NULL)
        close_both();
}
