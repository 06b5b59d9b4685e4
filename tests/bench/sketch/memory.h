/* The device's memory: what copies need of it. */
#ifndef SKETCH_MEMORY_H
#define SKETCH_MEMORY_H

/* Returns the pages of freed blocks to the system. */
void sketch_trim(void);

#endif
