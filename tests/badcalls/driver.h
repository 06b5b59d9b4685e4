/* What the generated table and the driver share. Each draw_* gives one argument of its kind and notes it for the
 * report. */
#ifndef BADCALLS_DRIVER_H
#define BADCALLS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct entry {
    const char *en_name;
    void (*en_call)(void);
    int en_waits; /* may wait for work that another function queued */
};
extern const struct entry entries[];
extern const size_t entry_count;

uint64_t draw_number(void);
size_t draw_room(void); /* of host memory: as much as there is, or more than any function takes */
int64_t draw_enum(int64_t least, int64_t most);
int32_t draw_milliseconds(void);
float draw_float(void);
void draw_bytes(void *value, size_t size);
void *draw_handle(void);
void *draw_memory(void);
void *draw_text(void);
void *draw_path(void);
void *draw_plain_text(void);
void *draw_texts(void);
void *draw_lists(void);
void *draw_words(void); /* host memory full of numbers, handles and device addresses */
void *draw_no_handles(void); /* where a function reads the address of a text: no handle is one */
void *draw_zeros(void);
void *draw_addresses(void); /* lists of them, of device and host memory */
void *draw_locations(void);
void *draw_function(void);

#endif
