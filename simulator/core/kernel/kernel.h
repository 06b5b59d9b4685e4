/* User kernels: the binaries that hold them, their functions, lists of their arguments, and their launches. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "base/bytes.h"
#include "base/object.h"
#include "engine/engine.h"
#include <acl/acl_sim.h>

/* ---- binaries (kernel.c) ---- */

#define SIM_CPU_MODE_NONE (-1)
#define SIM_CPU_MODE_DATA 2 /* loaded from memory; its functions are registered one by one */

/* The options of a load. */
struct sim_binary_options {
    uint32_t bo_magic;   /* ACL_RT_BINARY_MAGIC_ELF_* */
    int32_t bo_cpu_mode;
};

/* Creates a description of bytes in host memory, which are copied. Returns NULL with a message. */
aclrtBinary sim_kernel_describe(const void *data, size_t size);
aclError sim_kernel_undescribe(aclrtBinary description);

/* Load a binary. Return 107002; 107009 if the file cannot be opened; 107000 if it is empty or a library that cannot
 * be opened; 207001; for a description also 107017. */
aclError sim_kernel_load_described(aclrtBinary description, aclrtBinHandle *handle);
aclError sim_kernel_load_file(const char *path, const struct sim_binary_options *options, aclrtBinHandle *handle);
aclError sim_kernel_load_data(const void *data, size_t size, const struct sim_binary_options *options,
                              aclrtBinHandle *handle);

/* Ends the binary with its functions and their argument lists; tasks that have not run yet fail. Returns 107017. */
aclError sim_kernel_unload(aclrtBinHandle handle);

/* Find the function of a name, or (entry) the one whose name ends in "_<entry>"; always the same handle. Return
 * 107017, 107002, or 507027 if neither the binary's symbols nor a registered implementation have it. */
aclError sim_kernel_find(aclrtBinHandle handle, const char *name, aclrtFuncHandle *function);
aclError sim_kernel_find_entry(aclrtBinHandle handle, uint64_t entry, aclrtFuncHandle *function);
/* Finds a function of a binary that was loaded in SIM_CPU_MODE_DATA; returns 107000 for other binaries. */
aclError sim_kernel_find_cpu(aclrtBinHandle handle, const char *entry, const char *name, aclrtFuncHandle *function);

/* Find the current device's copy of the binary, or of one of its variables. Return 107002, 107017, 207000 if the
 * binary has no bytes, 207001; for a variable also 107042. */
aclError sim_kernel_address(aclrtBinHandle handle, void **address, size_t *size);
aclError sim_kernel_global(aclrtBinHandle handle, const char *name, void **address, size_t *size);

/* Sets the function that is called when a kernel of the binary fails. Returns 107017. */
aclError sim_kernel_set_callback(aclrtBinHandle handle, aclrtOpExceptionCallback callback, void *user);
/* Calls that function with the report of a failed kernel. */
struct rtExceptionInfo;
void sim_kernel_exception(const struct rtExceptionInfo *report);

void sim_kernel_reset(void);
void sim_kernel_after_fork(void);

/* ---- functions (kernel_function.c) ---- */

/* The code of a kernel: the part for cube cores (or all of it) and the part for vector cores, as device addresses,
 * NULL where there is none. The functions return 107017, 107002, 207000 for a kernel without code, 207001. */
struct sim_kernel_code {
    void *kc_cube, *kc_vector;
    size_t kc_cube_size, kc_vector_size;
};
aclError sim_kernel_function_code(aclrtFuncHandle handle, struct sim_kernel_code *code);
aclError sim_kernel_function_sizes(aclrtFuncHandle handle, struct sim_kernel_code *code);
aclError sim_kernel_function_name(aclrtFuncHandle handle, uint32_t length, char *name);
aclError sim_kernel_function_type(aclrtFuncHandle handle, aclrtKernelType *type);
aclError sim_kernel_function_binary(aclrtFuncHandle handle, aclrtBinHandle *binary);

/* Functions that a program names by a handle or by a host symbol. They return 107044 for anything else. */
aclError sim_kernel_function_of_symbol(const void *symbol, aclrtFuncHandle *function);
aclError sim_kernel_function_check(const void *function);
/* Return 207000 if the kernel's parameters are unknown, and 107000 if the index is out of range. */
aclError sim_kernel_function_parameter_count(const void *function, size_t *count);
aclError sim_kernel_function_parameter(const void *function, size_t index, size_t *offset, size_t *size);

/* ---- implementations (kernel_registry.c) ---- */

/* Registers an implementation. Returns 100000 if it is invalid, 200000 if memory runs out. */
aclError sim_kernel_registry_register(const char *binary, const char *kernel, const aclsimCustomKernel *implementation);
/* Registers a host symbol for a function; returns 107017 if the function is not live. */
aclError sim_kernel_symbol_register(const void *symbol, aclrtFuncHandle function);

/* ---- variables that a program names by a host symbol (kernel_variable.c) ---- */

/* Registers a host symbol for a variable; a NULL binary removes it. Returns 107017, 107042 if the binary has no such
 * variable, or 207001. */
aclError sim_kernel_variable_register(const void *symbol, aclrtBinHandle binary, const char *name);
/* The bytes of a variable on the current device. The function returns 107002; 107043 if the symbol belongs to no
 * live binary; 507000 if that was loaded on another device; 207001. */
struct sim_variable {
    char *va_address;
    size_t va_size;
};
aclError sim_kernel_variable_find(const void *symbol, struct sim_variable *variable);

/* ---- argument lists (kernel_args.c) ---- */

#define SIM_ARGS_BYTES (1u << 20) /* per launch: arguments and data of placeholders */

/* The size of a list's record in the program's memory. */
size_t sim_kernel_args_record_size(void);
/* The bytes needed for arguments of `size` bytes, however they are divided. Returns 107000. */
aclError sim_kernel_args_room(size_t size, size_t *room);
/* Creates a list that the library owns. Returns 107017 or 207001. */
aclError sim_kernel_args_create(aclrtFuncHandle function, aclrtArgsHandle *handle);
/* Creates a list in the program's memory; the address of its record becomes the handle. */
aclError sim_kernel_args_create_at(aclrtFuncHandle function, aclrtArgsHandle record, void *memory, size_t size);
/* Return 107017 for a dead list, and 107000 if memory is too small or calls are out of order. */
aclError sim_kernel_args_append(aclrtArgsHandle handle, const void *value, size_t size, aclrtParamHandle *parameter);
aclError sim_kernel_args_append_holder(aclrtArgsHandle handle, aclrtParamHandle *parameter);
aclError sim_kernel_args_holder_data(aclrtArgsHandle handle, aclrtParamHandle parameter, size_t size, void **data);
aclError sim_kernel_args_update(aclrtArgsHandle handle, aclrtParamHandle parameter, const void *value, size_t size);
aclError sim_kernel_args_finish(aclrtArgsHandle handle);

/* ---- launches (kernel_launch.c) ---- */

#define SIM_BLOCKS_MAX 65535 /* per launch */
#define SIM_THREADS_MAX 2048 /* per block of a SIMT kernel */

/* Arguments in host memory, and the places among them that receive the addresses of data. */
struct sim_host_args {
    const void *ha_bytes;
    size_t ha_size;
    const aclrtPlaceHolderInfo *ha_holders;
    size_t ha_holder_count;
};

struct sim_kernel_order {
    const void *ko_function;
    bool ko_by_symbol;       /* ko_function may also be a symbol */
    dim3 ko_grid, ko_threads;
    const aclrtLaunchKernelCfg *ko_config;
    /* The arguments, in one of four forms. */
    struct sim_host_args ko_host; /* ha_bytes NULL: not given */
    const void *ko_device;        /* device memory of ko_device_size bytes */
    size_t ko_device_size;
    aclrtArgsHandle ko_list;
    void *const *ko_array;        /* pointers to the arguments */
};

/* Launches a kernel. Returns 107017, 107044, 107000 if a value is invalid or memory is not allocated, 207000 without
 * an implementation, 207001, and the codes of sim_engine_submit. */
aclError sim_kernel_launch(const struct sim_kernel_order *order, aclrtStream stream, void *site);

/* Launches a kernel without a binary; `order` names no function, and any arguments are in host memory. */
aclError sim_kernel_launch_plain(const char *name, const aclsimCustomKernel *implementation,
                                 const struct sim_kernel_order *order, aclrtStream stream, void *site);

/* The value of an attribute (the last one, if given several times), or NULL if it was not given. */
static inline const aclrtLaunchKernelAttrValue *sim_kernel_attribute(const aclrtLaunchKernelAttr *attributes,
                                                                     size_t count, aclrtLaunchKernelAttrId id)
{
    while (count-- != 0)
        if (attributes[count].id == id)
            return &attributes[count].value;
    return NULL;
}

/* Fills in the view of a kernel's task; returns false for other tasks. */
bool sim_kernel_view(const struct sim_op *op, const void *argument, struct sim_kernel_view *view);

/* The scheduling mode of a kernel's task; 0 for other tasks. */
uint8_t sim_kernel_mode(const struct sim_op *op, const void *argument);

/* Copies a launch's argument with malloc, for sim_kernel_change; returns NULL if memory runs out. */
void *sim_kernel_copy(const void *argument);
/* Gives a copy other arguments and blocks, and asks the implementation again which memory it touches, without a
 * lock. Returns 107000 if they do not fit. */
aclError sim_kernel_change(void *copy, const aclmdlRIKernelTaskParams *parameters);

#endif
