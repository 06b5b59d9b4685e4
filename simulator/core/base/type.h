/* Data types: the size of an element, and half precision. */
#ifndef SIM_TYPE_H
#define SIM_TYPE_H

#include <acl/acl_base.h>
#include <stdint.h>
#include <string.h>

/* The bits of an element; 0: no fixed size, or an unknown type. */
uint32_t sim_type_bits(aclDataType type);

/* ---- half precision: without branches, so that loops are vectorised ---- */

static inline uint32_t sim_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float sim_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float sim_half_to_float(uint16_t half)
{
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13; /* as a float, the exponent is 112 too low */
    uint32_t bits = sim_float_bits(sim_float_of_bits(magnitude) * 0x1p112f);
    return sim_float_of_bits(bits | (magnitude >= 0x1f << 23 ? 0x7f800000 : 0) | (uint32_t)(half & 0x8000) << 16);
}

/* Rounds to nearest, ties to even. A NaN becomes a quiet NaN with the upper bits of its payload. */
static inline uint16_t sim_half_from_float(float value)
{
    const uint32_t bits = sim_float_bits(value);
    const int32_t magnitude = (int32_t)(bits & 0x7fffffff);
    const int32_t bounded = magnitude < 0x47800000 ? magnitude : 0x47800000; /* 65536, which becomes infinite */
    /* The power of 2, at least that of the least normal half. The sum with 2^13 times this power is rounded to the last
     * place of the half: what it adds to the bits is the fraction of the half with its leading 1. */
    const int32_t power = bounded & 0x7f800000, scale = power > 113 << 23 ? power : 113 << 23;
    const int32_t last = scale + (13 << 23);
    const float sum = sim_float_of_bits((uint32_t)bounded) + sim_float_of_bits((uint32_t)last);
    const int32_t number = (int32_t)sim_float_bits(sum) - last + (scale >> 13) - (113 << 10);
    const int32_t kept = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : number;
    return (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)kept;
}

static inline float sim_bfloat_to_float(uint16_t bits)
{
    return sim_float_of_bits((uint32_t)bits << 16);
}

/* Rounds to nearest, ties to even. A NaN becomes a quiet NaN. */
static inline uint16_t sim_bfloat_from_float(float value)
{
    uint32_t bits = sim_float_bits(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(value != value ? bits >> 16 | 0x40 : rounded);
}

#endif
