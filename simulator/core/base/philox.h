/* Philox 4x32-10, a generator whose numbers depend only on a seed and a counter, not on the numbers drawn before
 * (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3), and distributions made from its words. */
#ifndef SIM_PHILOX_H
#define SIM_PHILOX_H

#include <math.h>
#include <stdint.h>

/* Replaces the words of a counter by random ones. */
static inline void sim_philox(uint32_t words[4], uint64_t seed)
{
    uint32_t keys[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t first = UINT64_C(0xd2511f53) * words[0], second = UINT64_C(0xcd9e8d57) * words[2];
        words[0] = (uint32_t)(second >> 32) ^ words[1] ^ keys[0];
        words[1] = (uint32_t)second;
        words[2] = (uint32_t)(first >> 32) ^ words[3] ^ keys[1];
        words[3] = (uint32_t)first;
        keys[0] += 0x9e3779b9;
        keys[1] += 0xbb67ae85;
    }
}

static inline uint64_t sim_philox_joined(const uint32_t words[2])
{
    return words[0] | (uint64_t)words[1] << 32;
}

/* A number in [0, 1). */
static inline double sim_philox_fraction(const uint32_t words[2])
{
    return (double)(sim_philox_joined(words) >> 11) * 0x1p-53;
}

/* A number of the standard normal distribution. */
static inline double sim_philox_normal(const uint32_t words[4])
{
    return sqrt(-2 * log(1 - sim_philox_fraction(words))) * cos(6.283185307179586 * sim_philox_fraction(words + 2));
}

#endif
