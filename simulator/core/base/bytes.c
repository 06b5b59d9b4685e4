/* Taking bytes and numbers from the front of a file in memory, and reading files (bytes.h).
 *
 * The caller owns the bytes. There is no shared state and no lock. */
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sim_bytes_take(struct sim_bytes *bytes, uint64_t size, struct sim_bytes *taken)
{
    if (size > bytes->by_size)
        return false;
    *taken = (struct sim_bytes){bytes->by_data, size};
    bytes->by_data += size;
    bytes->by_size -= size;
    return true;
}

bool sim_bytes_number(struct sim_bytes *bytes, uint64_t size, uint64_t *value)
{
    struct sim_bytes taken;
    *value = 0;
    if (!sim_bytes_take(bytes, size, &taken))
        return false;
    for (uint64_t i = 0; i < size; i++)
        *value |= (uint64_t)taken.by_data[i] << 8 * i;
    return true;
}

bool sim_bytes_u32(struct sim_bytes *bytes, uint32_t *value)
{
    uint64_t number;
    bool found = sim_bytes_number(bytes, 4, &number);
    *value = (uint32_t)number;
    return found;
}

bool sim_bytes_u64(struct sim_bytes *bytes, uint64_t *value)
{
    return sim_bytes_number(bytes, 8, value);
}

/* ---- files ---- */

static aclError read_whole(int file, const char *path, const char *name, const struct sim_read_codes *codes,
                           struct sim_bytes *bytes)
{
    struct stat status;
    SIM_ARGUMENT(fstat(file, &status) == 0 && S_ISREG(status.st_mode), codes->rc_unreadable,
                 "%s is \"%s\", which is not a regular file", name, path);
    SIM_ARGUMENT(status.st_size > 0 || codes->rc_empty == ACL_SUCCESS, codes->rc_empty, "%s is \"%s\", which is empty",
                 name, path);
    SIM_ARGUMENT(codes->rc_most == 0 || (uint64_t)status.st_size <= codes->rc_most, codes->rc_unreadable,
                 "%s is \"%s\", which has %lld bytes, expected at most %llu", name, path, (long long)status.st_size,
                 (unsigned long long)codes->rc_most);
    size_t size = (size_t)status.st_size, done = 0;
    unsigned char *data = malloc(size + 1);
    SIM_ARGUMENT(data != NULL, codes->rc_memory, "there is no memory for the %zu bytes of %s", size, path);
    int reason = 0;
    while (done < size) {
        ssize_t got = read(file, data + done, size - done);
        reason = got < 0 ? errno : 0;
        if (got <= 0 && reason != EINTR)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    data[done] = '\0';
    *bytes = (struct sim_bytes){data, done};
    if (done == size)
        return ACL_SUCCESS;
    free(data);
    return sim_refuse(codes->rc_unreadable, "%s is \"%s\", of which only %zu of %zu bytes can be read: %s", name, path,
                      done, size, reason != 0 ? strerror(reason) : "the file ends there");
}

aclError sim_bytes_read(const char *path, const char *name, const struct sim_read_codes *codes, struct sim_bytes *bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused without waiting */
    SIM_ARGUMENT(file >= 0, codes->rc_unreadable, "%s is \"%s\", which cannot be opened: %s", name, path,
                 strerror(errno));
    aclError code = read_whole(file, path, name, codes, bytes);
    close(file);
    return code;
}

bool sim_bytes_path_is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(last, '.');
    size_t stem = dot == NULL ? strlen(last) : (size_t)(dot - last);
    return strcmp(name, path) == 0 || strcmp(name, last) == 0 ||
           (strlen(name) == stem && strncmp(name, last, stem) == 0);
}
