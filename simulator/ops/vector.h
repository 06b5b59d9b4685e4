/* Loops over consecutive floats that the compiler vectorises, for the operators whose functions cost the most. `to` and
 * `from` may be the same memory. The errors that the comments name are in units in the last place, also where a result
 * is denormal. */
#ifndef OPS_VECTOR_H
#define OPS_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/* Half precision: the same bits as those of base/type.h. */
void sim_vector_half_from_float(uint16_t *to, const float *from, size_t count);
void sim_vector_half_to_float(float *to, const uint16_t *from, size_t count);
void sim_vector_bfloat_from_float(uint16_t *to, const float *from, size_t count);
void sim_vector_bfloat_to_float(float *to, const uint16_t *from, size_t count);

typedef void sim_vector_func(float *to, const float *from, size_t count);

sim_vector_func sim_vector_exp;          /* 2 units */
sim_vector_func sim_vector_sigmoid;      /* 3 units */
sim_vector_func sim_vector_silu;         /* 3 units; x times the sigmoid */
sim_vector_func sim_vector_tanh;         /* 3 units */
sim_vector_func sim_vector_gelu;         /* 4 units; x times the normal distribution */
sim_vector_func sim_vector_gelu_by_tanh; /* 3 units; its approximation */

/* The greatest element is subtracted from all, and the exponentials are added in double. If the greatest element is
 * infinite, or an element is NaN, all results are NaN, as the formula says. */
sim_vector_func sim_vector_softmax;
sim_vector_func sim_vector_log_softmax;

typedef void sim_vector_fold(double *to, const float *from, size_t count);

sim_vector_fold sim_vector_add; /* adds all elements */
/* The greatest or least of the elements and *to; NaN if one of them is. */
sim_vector_fold sim_vector_greatest;
sim_vector_fold sim_vector_least;

#endif
