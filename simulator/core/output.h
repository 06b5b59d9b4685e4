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

/* A text inside the quotes of a JSON string; how many bytes that were. */
size_t sim_output_text(FILE *file, const char *text);

#endif
