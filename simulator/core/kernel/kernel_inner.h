/* What the files of the kernel room share. */
#ifndef SIM_KERNEL_INNER_H
#define SIM_KERNEL_INNER_H

#include "base/config.h"
#include "kernel.h"

/* ---- kernel_elf.c: symbols of a file. No offset and no count of the file is trusted. ---- */

struct sim_elf {
    struct sim_bytes el_file;
    uint64_t el_sections, el_symbols; /* offsets of the tables */
    uint64_t el_section_count, el_symbol_count;
    struct sim_bytes el_names;        /* of the symbols */
    uint64_t el_memory;               /* bytes of the file, and of the zeroed sections behind it */
    uint16_t el_type, el_machine;
};

/* A symbol's bytes, in the file or in the zeroed sections behind it. */
struct sim_symbol {
    const char *sy_name;
    uint64_t sy_place, sy_size;
    bool sy_is_data;
};

/* False if the file is not a 64-bit ELF file. */
bool sim_kernel_elf_open(struct sim_bytes file, struct sim_elf *elf);
/* False for one that is not defined or lies nowhere. */
bool sim_kernel_elf_symbol(const struct sim_elf *elf, uint64_t index, struct sim_symbol *symbol);
/* The symbol of this name with this ending. */
bool sim_kernel_elf_find(const struct sim_elf *elf, const char *name, const char *ending, struct sim_symbol *symbol);
/* Whether this process could open it as a shared library. */
bool sim_kernel_elf_is_library(const struct sim_elf *elf);

/* ---- kernel_registry.c ---- */

#define SIM_KERNEL_PREFIX "aclsim_kernel_" /* of the symbols of a library that is loaded as a binary */
#define SIM_PARAMETERS_MAX 64
#define SIM_PARAMETER_BYTES 4096

/* A copy of an aclsimCustomKernel. */
struct sim_custom {
    aclsimCustomKernelFunc cu_run; /* NULL: none */
    aclsimTouchFunc cu_touch;
    void *cu_user;
    bool cu_has_parameters;
    uint32_t cu_count;
    uint16_t cu_sizes[SIM_PARAMETERS_MAX];
};

/* 100000 */
aclError sim_kernel_registry_read(const aclsimCustomKernel *given, struct sim_custom *custom);
/* One that was given for the binary itself goes before one for any. */
bool sim_kernel_registry_find(const char *path, const char *kernel, struct sim_custom *custom);
/* The name of a registered kernel of the binary that ends in this, copied; false when there is none. */
bool sim_kernel_registry_find_ending(const char *path, const char *ending, char *name, size_t size);
/* Whether something was given for the binary itself. */
bool sim_kernel_registry_knows(const char *path);
/* Changes with every registration; never 0. */
uint32_t sim_kernel_registry_version(void);
/* The handle that a symbol stands for, or 0. */
uint64_t sim_kernel_symbol_find(const void *symbol);
void sim_kernel_registry_reset(void);
void sim_kernel_registry_after_fork(void);

/* The place of a member of `size` bytes in a C struct that has `end` bytes so far. */
static inline size_t sim_member_place(size_t end, size_t size)
{
    size_t align = size >= 8 || (size & (size - 1)) != 0 ? 8 : size == 0 ? 1 : size;
    return (end + align - 1) / align * align;
}

/* ---- kernel.c ---- */

/* What was loaded. Counted: its binary is one user, every function another, and everybody who runs code of it. */
struct sim_image {
    _Atomic uint32_t im_users;
    struct sim_bytes im_content; /* malloc'ed; none of a binary that exists by its implementations alone */
    struct sim_elf im_elf;
    bool im_is_elf;
    char *im_path; /* as it was given; "" of data */
    char *im_name; /* its last part without the ending */
    void *im_library;
    int32_t im_device; /* that was current when it was loaded */
    uint32_t im_magic;
    int32_t im_cpu_mode;
    struct sim_lock im_lock; /* guards the copies, one per device */
    struct {
        void *co_address;
        uint32_t co_birth;
    } im_copies[SIM_DEVICES_MAX];
};

void sim_kernel_image_drop(struct sim_image *image);
static inline struct sim_image *sim_kernel_image_hold(struct sim_image *image)
{
    atomic_fetch_add_explicit(&image->im_users, 1, memory_order_relaxed);
    return image;
}

/* Its copy on the current device, made at first use. 207000, 207001. */
aclError sim_kernel_image_place(struct sim_image *image, int32_t device, void **address);

/* The image of a live binary, held; NULL for any other handle. */
struct sim_image *sim_kernel_image_of(aclrtBinHandle handle);
/* Whether it was loaded on the device, or has been used there. */
bool sim_kernel_image_is_on(struct sim_image *image, int32_t device);
/* 107042 */
aclError sim_kernel_image_variable(const struct sim_image *image, const char *name, struct sim_symbol *symbol);

/* The current device: 107002. */
aclError sim_kernel_device(int32_t *device);

/* ---- kernel_variable.c ---- */

void sim_kernel_variable_reset(void);
void sim_kernel_variable_after_fork(void);

/* ---- kernel_function.c ---- */

struct sim_function {
    struct sim_object fu_object;
    struct sim_function *fu_next; /* of the same binary; guarded by the binary's lock */
    struct sim_image *fu_image;
    uint64_t fu_binary;
    const struct sim_op *fu_op;   /* its name is the kernel's */
    char *fu_entry;               /* of a CPU function, or NULL */
    aclrtKernelType fu_type;
    struct sim_symbol fu_cube, fu_vector; /* sy_name NULL: none */
    struct sim_custom fu_own;     /* of the binary's library */
    struct sim_custom fu_custom;  /* found at fu_version */
    uint32_t fu_version;
    uint64_t *fu_lists;           /* the newest SIM_LISTS_KEPT argument lists, by handle; malloc'ed at the first */
    uint64_t fu_list_count;       /* ever made */
};

#define SIM_LISTS_KEPT 4096

extern struct sim_table sim_kernel_functions;

/* A new function of an image, live and not locked: 207001, 100000 for what its library says of it. */
aclError sim_kernel_function_create(struct sim_image *image, uint64_t binary, const char *name, const char *entry,
                             struct sim_function **function);
void sim_kernel_function_destroy(struct sim_function *function); /* opened */

/* The live function, locked: 107017. By symbol, too: 107044. */
aclError sim_kernel_function_open(const void *handle, const char *name, struct sim_function **function);
aclError sim_kernel_function_open_any(const void *handle_or_symbol, struct sim_function **function);
/* Who runs it now: false when nobody does. */
bool sim_kernel_function_custom(struct sim_function *function, struct sim_custom *custom);

/* ---- kernel_args.c ---- */

/* A finished list as one block, malloc'ed: the arguments, then the data; and its holders, malloc'ed too. */
aclError sim_kernel_args_gather(aclrtArgsHandle handle, struct sim_host_args *gathered);
void sim_kernel_args_destroy(uint64_t handle); /* if it still lives */
void sim_kernel_args_reset(void);
void sim_kernel_args_after_fork(void);

/* ---- kernel_check.c ---- */

/* 100000, 107000 */
aclError sim_kernel_check(const struct sim_kernel_order *order);
aclError sim_kernel_check_config(const aclrtLaunchKernelCfg *config);
/* Nanoseconds that a launch with these attributes may run; SIM_FOREVER: no limit. */
uint64_t sim_kernel_limit(const aclrtLaunchKernelCfg *config);

/* ---- kernel_launch.c ---- */

/* The operation of all kernels of a name and kind: lives for ever, because tasks may outlive the binary. NULL without
 * memory. */
const struct sim_op *sim_kernel_op(const char *name, enum sim_task_kind kind);

#endif
