/* Keys of elements, for sorting and comparing. There is no state. */
#include "keys.h"

#include "reduce.h"
#include <string.h>

#define SIGN (UINT64_C(1) << 63)

static uint64_t key_of_double(double value)
{
    uint64_t bits;
    if (value != value)
        return SIM_KEYS_NAN;
    value += 0.0; /* turns -0 into 0, which is equal */
    memcpy(&bits, &value, sizeof bits);
    return (bits & SIGN) != 0 ? ~bits : bits | SIGN;
}

void sim_keys_load(uint64_t *keys, const void *from, aclDataType type, int64_t stride, size_t count)
{
    const enum sim_class class = sim_reduce_class(type);
    const uint64_t shift = type == ACL_UINT64 ? 0 : SIGN; /* moves the least integer to 0 */
    union sim_block_values block;
    sim_element_load(&block, class, from, type, stride, count);
    for (size_t i = 0; i < count; i++)
        keys[i] = class == SIM_CLASS_INTEGER ? block.bv_bits[i] ^ shift : key_of_double(block.bv_doubles[i]);
}
