/* Directories and files that the simulator writes for programs. */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include "fail.h"
#include <stdio.h>

/* Creates the directory that a program names; its parent must exist. False, with errno, if it cannot be created or
 * written to. */
bool sim_output_base(const char *path);

/* The same for a directory below it, with its parents. */
bool sim_output_directory(const char *path);

/* Writes the name of a file, with the number of the process instead of each %p in the pattern. */
void sim_output_path(const char *pattern, char *path, size_t size);

/* Opens a file for writing, and empties it; NULL, with errno, on failure. A file size limit (SIGXFSZ) or a pipe without
 * a reader makes writing fail, and does not end the program. In the child of a fork the file writes nothing. */
FILE *sim_output_open(const char *path);

/* Closes the file. False, with errno, if some of it could not be written. */
bool sim_output_close(FILE *file);

/* Writes a whole file. False, with errno, on failure. */
bool sim_output_write(const char *path, const void *data, size_t size);

/* Writes all bytes to an open file, without the signals that would end the program. Returns 0, or the errno of a
 * failure. */
int sim_output_put(int file, const char *data, size_t size);

/* Sets the size of a file in memory like ftruncate, also above a limit of the file size (ulimit -f) that may be raised.
 * Returns 0, or -1 with errno. */
int sim_output_resize(int file, uint64_t size);

/* Writes a text as the content of a JSON string, and returns the number of bytes. */
size_t sim_output_text(FILE *file, const char *text);

#endif
