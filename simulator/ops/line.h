/* Lines of elements: some dimensions of a tensor, gathered into consecutive numbers and stored back. */
#ifndef OPS_LINE_H
#define OPS_LINE_H

#include "walk.h"

struct sim_line {
    aclDataType li_type;
    struct sim_walk li_walk; /* over one tensor, in the order of the indices */
};

/* A line of `rank` dimensions of the tensor, from dimension `first` on. */
struct sim_line sim_line_of(const aclsimTensor *tensor, uint32_t first, uint32_t rank);

/* The tensor without dimension `dim`, the one of the lines. Its elements are where lines begin. */
aclsimTensor sim_line_without(const aclsimTensor *tensor, uint32_t dim);

/* Whether the elements of lines in memory are consecutive numbers of the class. */
bool sim_line_is_plain(const struct sim_line *line, enum sim_class class);

/* The number of elements of a line; SIZE_MAX if it does not fit. */
size_t sim_line_length(const struct sim_line *line);

/* Allocates memory for `count` lines in a class, which the caller frees, and counts the elements of one line. A line
 * without elements gets memory, too. Returns 207001 if the host has none left. */
aclError sim_line_reserve(const struct sim_line *line, enum sim_class class, size_t count, void **memory,
                          size_t *length);

/* Copy between the line that starts at an address and consecutive floats or doubles. */
void sim_line_load(const struct sim_line *line, enum sim_class class, const void *from, void *values);
void sim_line_store(const struct sim_line *line, enum sim_class class, const void *values, void *to);

#endif
