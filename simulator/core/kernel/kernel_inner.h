/* Shared by the files of the kernel room. */
#ifndef SIM_KERNEL_INNER_H
#define SIM_KERNEL_INNER_H

#include "base/config.h"
#include "kernel.h"

/* ---- kernel_elf.c: symbols of a file, of which no offset and no count is trusted ---- */

struct sim_elf {
    struct sim_bytes el_file;
    uint64_t el_sections, el_symbols; /* offsets of the tables */
    uint64_t el_section_count, el_symbol_count;
    struct sim_bytes el_names;        /* of the symbols */
    uint64_t el_memory;               /* bytes of the file and of the zeroed sections behind it */
    uint16_t el_type, el_machine;
};

/* A symbol's bytes, in the file or in the zeroed sections behind it. */
struct sim_symbol {
    const char *sy_name;
    uint64_t sy_place, sy_size;
    bool sy_is_data;
};

/* Returns false if the file is not a 64-bit ELF file. */
bool sim_kernel_elf_open(struct sim_bytes file, struct sim_elf *elf);
/* Returns false if the symbol is undefined or has no bytes. */
bool sim_kernel_elf_symbol(const struct sim_elf *elf, uint64_t index, struct sim_symbol *symbol);
/* Finds the symbol whose name is `name` followed by `ending`. */
bool sim_kernel_elf_find(const struct sim_elf *elf, const char *name, const char *ending, struct sim_symbol *symbol);
/* Whether this process could open the file as a shared library. */
bool sim_kernel_elf_is_library(const struct sim_elf *elf);

/* ---- kernel_registry.c ---- */

#define SIM_KERNEL_PREFIX "aclsim_kernel_" /* begins the symbols of a library that is loaded as a binary */
#define SIM_PARAMETERS_MAX 64
#define SIM_PARAMETER_BYTES 4096

/* A copy of an aclsimCustomKernel. */
struct sim_custom {
    aclsimCustomKernelFunc cu_run; /* NULL: no implementation */
    aclsimTouchFunc cu_touch;
    void *cu_user;
    bool cu_has_parameters;
    uint32_t cu_count;
    uint16_t cu_sizes[SIM_PARAMETERS_MAX];
};

/* Checks and copies an implementation; returns 100000 if it is invalid. */
aclError sim_kernel_registry_read(const aclsimCustomKernel *given, struct sim_custom *custom);
/* Finds an implementation. One registered for this binary has priority over one registered for any binary. */
bool sim_kernel_registry_find(const char *path, const char *kernel, struct sim_custom *custom);
/* Copies the name of a registered kernel of the binary with this ending; returns false if there is none. */
bool sim_kernel_registry_find_ending(const char *path, const char *ending, char *name, size_t size);
/* Whether an implementation was registered for this binary. */
bool sim_kernel_registry_knows(const char *path);
/* Changes with every registration; never 0. */
uint32_t sim_kernel_registry_version(void);
/* The handle of the function registered for a symbol, or 0. */
uint64_t sim_kernel_symbol_find(const void *symbol);
void sim_kernel_registry_reset(void);
void sim_kernel_registry_after_fork(void);

/* The offset of a member of `size` bytes that follows `end` bytes in a C struct. */
static inline size_t sim_member_place(size_t end, size_t size)
{
    size_t align = size >= 8 || (size & (size - 1)) != 0 ? 8 : size == 0 ? 1 : size;
    return (end + align - 1) / align * align;
}

/* ---- kernel.c ---- */

/* What was loaded. Its users are counted: its binary, each function, and each thread that runs its code. */
struct sim_image {
    _Atomic uint32_t im_users;
    struct sim_bytes im_content; /* allocated with malloc; may be empty if there are implementations */
    struct sim_elf im_elf;
    bool im_is_elf;
    char *im_path; /* as it was given; "" if loaded from memory */
    char *im_name; /* its last part without the extension */
    void *im_library;
    int32_t im_device; /* the current device when it was loaded */
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

/* The image's copy on a device, made when it is first used. Returns 207000 or 207001. */
aclError sim_kernel_image_place(struct sim_image *image, int32_t device, void **address);

/* The image of a live binary with one more user, or NULL for any other handle. */
struct sim_image *sim_kernel_image_of(aclrtBinHandle handle);
/* Whether it was loaded on the device, or has a copy there. */
bool sim_kernel_image_is_on(struct sim_image *image, int32_t device);
/* Finds a variable; returns 107042 if there is none. */
aclError sim_kernel_image_variable(const struct sim_image *image, const char *name, struct sim_symbol *symbol);

/* Finds the current device; returns 107002 without a context. */
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
    char *fu_entry;               /* entry of a CPU function, or NULL */
    aclrtKernelType fu_type;
    struct sim_symbol fu_cube, fu_vector; /* sy_name NULL: no such part */
    struct sim_custom fu_own;     /* exported by the binary's library */
    struct sim_custom fu_custom;  /* found at fu_version */
    uint32_t fu_version;
    uint64_t *fu_lists;           /* handles of the newest SIM_LISTS_KEPT argument lists; allocated with the first */
    uint64_t fu_list_count;       /* lists created so far */
};

#define SIM_LISTS_KEPT 4096

extern struct sim_table sim_kernel_functions;

/* Creates a function of an image, live and unlocked. Returns 207001, or 100000 if its library's description is
 * invalid. */
aclError sim_kernel_function_create(struct sim_image *image, uint64_t binary, const char *name, const char *entry,
                             struct sim_function **function);
void sim_kernel_function_destroy(struct sim_function *function); /* which is opened */

/* Return the live function, locked: 107017 for a dead handle, 107044 (any) if it is neither a handle nor a symbol. */
aclError sim_kernel_function_open(const void *handle, const char *name, struct sim_function **function);
aclError sim_kernel_function_open_any(const void *handle_or_symbol, struct sim_function **function);
/* Finds the current implementation; returns false if there is none. */
bool sim_kernel_function_custom(struct sim_function *function, struct sim_custom *custom);

/* ---- kernel_args.c ---- */

/* Copies a completed list to one block, the arguments and then the data, and its placeholders; both are allocated
 * with malloc. */
aclError sim_kernel_args_gather(aclrtArgsHandle handle, struct sim_host_args *gathered);
void sim_kernel_args_destroy(uint64_t handle); /* if it is still live */
void sim_kernel_args_reset(void);
void sim_kernel_args_after_fork(void);

/* ---- kernel_check.c ---- */

/* Return 100000 or 107000 for invalid values. */
aclError sim_kernel_check(const struct sim_kernel_order *order);
aclError sim_kernel_check_config(const aclrtLaunchKernelCfg *config);
/* The time in nanoseconds that a launch with these attributes may run, or SIM_FOREVER. */
uint64_t sim_kernel_limit(const aclrtLaunchKernelCfg *config);

/* ---- kernel_launch.c ---- */

/* The operation of all kernels with a name and type. It is never freed, because tasks may outlive the binary.
 * Returns NULL if memory runs out. */
const struct sim_op *sim_kernel_op(const char *name, enum sim_task_kind kind);

#endif
