/* Lines of elements: some dimensions of a tensor, gathered into consecutive numbers and put back. */
#ifndef OPS_LINE_H
#define OPS_LINE_H

#include "walk.h"

struct sim_line {
    aclDataType li_type;
    struct sim_walk li_walk; /* of one place, in the order of the indices */
};

/* The dimensions from `first` on, `rank` of them. */
struct sim_line sim_line_of(const aclsimTensor *tensor, uint32_t first, uint32_t rank);

/* Memory for `count` lines in a class, freed by the caller, and the elements of one. 207001 when there is none. */
aclError sim_line_reserve(const struct sim_line *line, enum sim_class class, size_t count, void **memory,
                          size_t *length);

/* Between the line that starts at a place and consecutive floats or doubles. */
void sim_line_load(const struct sim_line *line, enum sim_class class, const void *from, void *values);
void sim_line_store(const struct sim_line *line, enum sim_class class, const void *values, void *to);

#endif
