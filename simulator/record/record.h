/* Recording the calls of a program: libacl_record.so, which a program preloads, or the acl package loads.
 *
 * The library has a variant of each public function of AscendCL, which the build generates (generate_record.py). A
 * variant passes its call on to the next library that has the function, the simulator or the vendor's, and writes one
 * line of JSON about it. docs/record_calls.rst describes the format.
 *
 * record.c is the frame of a call and the life cycle, record_names.c numbers handles and addresses, record_data.c
 * reads the bytes of copies, and record_file.c writes the lines. One lock, in record.c, guards all of them. It is never
 * held while the function itself runs. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RECORD_API __attribute__((visibility("default")))

/* How a value is written. */
enum sim_record_form {
    SIM_RECORD_UNSIGNED,
    SIM_RECORD_SIGNED,
    SIM_RECORD_FLOAT,
    SIM_RECORD_ADDRESS, /* "block#1+64", or "host" for what is not known to be device or pinned memory */
    SIM_RECORD_HANDLE,  /* "stream#1" */
    SIM_RECORD_ID,      /* a handle that is a number, also 0: "modelId#1" */
    SIM_RECORD_TEXT,
    SIM_RECORD_NOTHING, /* it is left out */
};

struct sim_record_parameter {
    const char *pm_name;
    uint8_t pm_form;
    uint8_t pm_size;  /* bytes of a value behind the pointer; 0: the argument is the value */
    uint8_t pm_kind;  /* of a handle, or of an address that is an output */
    int8_t pm_count;  /* the parameter with the number of values behind the pointer; -1: one */
    bool pm_output;   /* written after the call */
};

/* What a call does to the memory of the host. */
enum sim_record_role {
    SIM_RECORD_COPY,
    SIM_RECORD_COPY_BATCH,
    SIM_RECORD_SYNCHRONIZE_STREAM,
    SIM_RECORD_SYNCHRONIZE_DEVICE,
    SIM_RECORD_SYNCHRONIZE_EVENT,
    SIM_RECORD_RECORD_EVENT,
};

/* Which parameters say so; -1: none. */
struct sim_record_places {
    enum sim_record_role pl_role;
    int8_t pl_to, pl_from, pl_bytes, pl_rows, pl_to_pitch, pl_from_pitch, pl_kind, pl_stream, pl_event;
};

struct sim_record_function {
    const char *fn_name;
    void (*fn_variant)(void);
    _Atomic uintptr_t fn_next; /* the next function; 0: not looked up yet */
    const struct sim_record_parameter *fn_parameters;
    const struct sim_record_places *fn_places; /* NULL: none */
    uint8_t fn_count;
    int8_t fn_size; /* the parameter with the size of the block that is allocated; -1: none */
    uint8_t fn_form, fn_kind; /* of the result */
    bool fn_has_code;         /* the result is 0 or the code of an error */
    bool fn_makes;            /* objects in outputs and in the result are new, also if their value was in use before */
    bool fn_ends;             /* ends the object of its first argument */
};

struct sim_record_functions {
    struct sim_record_function *const *fs_functions; /* sorted by name */
    size_t fs_count;
};
extern const struct sim_record_functions sim_record_functions;
extern const char *const sim_record_kinds[];
enum { SIM_RECORD_BLOCK, SIM_RECORD_PINNED }; /* the first kinds */

struct sim_record_call {
    const struct sim_record_function *cl_function; /* NULL: the call is not recorded */
    const uint64_t *cl_given;
    struct sim_record_name *cl_ended; /* the object that the call ends */
    FILE *cl_line;
    char *cl_text;
    size_t cl_bytes;
    uint64_t cl_start;
    uint32_t cl_thread, cl_number;
    int32_t cl_device;
    bool cl_captured;
};

/* Before and after the call of the next function, which the first one returns; NULL: no library has it. */
void (*sim_record_begin(struct sim_record_call *call, struct sim_record_function *function,
                        const uint64_t *given))(void);
void sim_record_end(struct sim_record_call *call, uint64_t result);

/* The variant of a function, which will call `next`; `next` itself if there is none. For the acl package. */
RECORD_API void *acl_record_wrap(const char *name, void *next);

/* A function of the next library, for questions of our own, which are neither traced nor counted by faults; NULL: no
 * loaded library has it. */
void *sim_record_next(const char *name);

static inline uint64_t sim_record_bits(double number)
{
    union {
        double number;
        uint64_t bits;
    } both = {.number = number};
    return both.bits;
}

#endif
