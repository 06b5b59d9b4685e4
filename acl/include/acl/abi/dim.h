/* The size of a grid of blocks or threads; in C++ its members have the default 1. */

typedef struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;
} dim3;
