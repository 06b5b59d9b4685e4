/* The sizes of data types (type.h), from a generated table; it is constant, so there is no lock. */
#include "type.h"
#include "data_type_table.h"

uint32_t sim_type_bits(aclDataType type)
{
#define BITS(constant, name, bits, numpy, package, number) [constant] = bits,
    static const uint8_t bits_of[] = {SIM_DATA_TYPES(BITS)};
    return (size_t)type < sizeof bits_of ? bits_of[type] : 0;
}
