/* Sources of a schema's arguments, as the tables of types write them (op_table*.c). */
#ifndef SIM_OP_SOURCE_H
#define SIM_OP_SOURCE_H

#include "op_type.h"

#define X(place) {.so_kind = SIM_FROM_INPUT, .so_place = (place)}
#define MOVED(place, derive) {.so_kind = SIM_FROM_MOVED, .so_place = (place), .so_derive = (derive)}
#define MAYBE(place) {.so_kind = SIM_FROM_OPTIONAL, .so_place = (place)}
#define TURNED(place, name) {.so_kind = SIM_FROM_INPUT, .so_place = (place), .so_name = (name)}
#define INPUTS(first, others) {.so_kind = SIM_FROM_INPUTS, .so_place = (first), .so_number = (others)}
#define RAISED {.so_kind = SIM_FROM_RAISED}
#define VIEW {.so_kind = SIM_FROM_VIEW}
#define VIEW_AS(place, derive) {.so_kind = SIM_FROM_VIEW, .so_place = (place), .so_derive = (derive)}
#define DERIVED(derive) {.so_kind = SIM_FROM_DERIVED, .so_derive = (derive)}
#define LIKE(place) {.so_kind = SIM_FROM_LIKE, .so_place = (place)}
#define MASK(count, bits) {.so_kind = SIM_FROM_MASK, .so_place = (count), .so_number = (bits)}
#define STRIDES_OF(place, first) {.so_kind = SIM_FROM_STRIDES, .so_place = (place), .so_number = (first)}
#define STRIDES_UPDATED(place, first) {.so_kind = SIM_FROM_UPDATED_STRIDES, .so_place = (place), .so_number = (first)}
#define INDICES(mask, first) {.so_kind = SIM_FROM_INDICES, .so_place = (first), .so_number = (mask)}
#define Y {.so_kind = SIM_FROM_OUTPUT}
#define OUTPUT(place) {.so_kind = SIM_FROM_OUTPUT, .so_place = (place)}
#define Y_AS(derive) {.so_kind = SIM_FROM_OUTPUT, .so_derive = (derive)}
#define Y_MOVED(derive) {.so_kind = SIM_FROM_OUTPUT_MOVED, .so_derive = (derive)}
#define OUTPUTS {.so_kind = SIM_FROM_OUTPUTS}
#define OUTPUTS_RAISED {.so_kind = SIM_FROM_OUTPUTS_RAISED}
#define NEEDED(name) {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = (name), .so_needed = true}
#define OPTIONAL(name, number) {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = (name), .so_number = (number)}
#define INVERSE_OF(name, number) {.so_kind = SIM_FROM_INVERSE, .so_name = (name), .so_number = (number)}
#define NUMBERS(place) {.so_kind = SIM_FROM_NUMBERS, .so_place = (place)}
#define TYPE {.so_kind = SIM_FROM_TYPE}
#define TYPE_NAMED(name) {.so_kind = SIM_FROM_TYPE, .so_name = (name)}
#define MATH {.so_kind = SIM_FROM_MATH}
#define NUMBER(number) {.so_kind = SIM_FROM_NUMBER, .so_number = (number)}
#define FIXED(name, number) {.so_kind = SIM_SOURCE_FIXED, .so_name = (name), .so_number = (number)}
#define ABSENT {.so_kind = SIM_SOURCE_FIXED} /* an omitted optional argument */
#define ANY(name) {.so_kind = SIM_SOURCE_ANY, .so_name = (name)}

#define NOTHING {.so_kind = SIM_FROM_NOTHING}

#endif
