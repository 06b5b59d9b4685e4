/* Lines of elements: some dimensions of a tensor, gathered into consecutive numbers and put back. */
#ifndef OPS_LINE_H
#define OPS_LINE_H

#include "element.h"

struct sim_line {
    aclDataType li_type;
    uint32_t li_rank;
    int64_t li_dims[SIM_RANK], li_strides[SIM_RANK]; /* neighbours that lie in memory like one are joined */
};

/* The dimensions from `first` on, `rank` of them. */
struct sim_line sim_line_of(const aclsimTensor *tensor, uint32_t first, uint32_t rank);

/* Memory for `count` lines in a class, freed by the caller, and the elements of one. 207001 when there is none. */
aclError sim_line_reserve(const struct sim_line *line, enum sim_class class, size_t count, void **memory,
                          size_t *length);

/* The place of a line: the element at the index of the tensor that holds the other dimensions. */
char *sim_line_place(const aclsimTensor *others, const int64_t *at);

/* Between the line that starts at a place and consecutive floats or doubles. */
void sim_line_load(const struct sim_line *line, enum sim_class class, const void *from, void *values);
void sim_line_store(const struct sim_line *line, enum sim_class class, const void *values, void *to);

#endif
