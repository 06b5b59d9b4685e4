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
    uint32_t bits = sim_float_bits(value), magnitude = bits & 0x7fffffff;
    /* The exponent is above the fraction, so that a carry of the rounding increases it. */
    uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* The addition rounds to the last place of 0.5, which is 2^-24, the unit of subnormal halves. */
    uint32_t subnormal = sim_float_bits(sim_float_of_bits(magnitude) + 0.5f) - sim_float_bits(0.5f);
    uint32_t kept = magnitude < 113u << 23 ? subnormal : normal;
    kept = magnitude >= 0x477ff000 ? 0x7c00 : kept; /* from 65520, the middle between 65504 and 65536 */
    kept = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : kept;
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
