#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
        mkdir(copy, 0777); /* what cannot be made shows below */
        *at = '/';
    }
    free(copy);
    return sim_output_base(path);
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
