/* Directories and texts that the simulator writes for programs. */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include "fail.h"
#include <stdio.h>

/* The directory that a program names, made when that above it exists; false, with errno, when it cannot be there or not
 * be written to. */
bool sim_output_base(const char *path);

/* A directory below it, made with those between them; the same. */
bool sim_output_directory(const char *path);

/* A file that is written anew; NULL, with errno. Neither a limit of the size of files (SIGXFSZ) nor a pipe without a
 * reader stops the program: writing fails. In the child of a fork it writes nothing more. */
FILE *sim_output_open(const char *path);

/* Closes it; false, with errno, when some of it could not be written. */
bool sim_output_close(FILE *file);

/* A whole file; false, with errno. */
bool sim_output_write(const char *path, const void *data, size_t size);

/* Gives a file in memory its size, as ftruncate does, also where the size of files is limited (ulimit -f) and the limit may
 * be raised. 0, or -1 with errno. */
int sim_output_resize(int file, uint64_t size);

/* A text inside the quotes of a JSON string; how many bytes that were. */
size_t sim_output_text(FILE *file, const char *text);

#endif
