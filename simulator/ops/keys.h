/* Keys of elements: unsigned numbers in the order of the elements, so that one comparison serves all types. A NaN has
 * the greatest key; -0 and 0 have the same one. */
#ifndef OPS_KEYS_H
#define OPS_KEYS_H

#include "element.h"

/* Makes the keys of at most SIM_BLOCK elements of a type that is not complex, `stride` elements apart. */
void sim_keys_load(uint64_t *keys, const void *from, aclDataType type, int64_t stride, size_t count);

#define SIM_KEYS_NAN UINT64_MAX /* of a float; it is also the key of the greatest integer */

#endif
