/* User kernels: the binaries that hold them, their functions, lists of their arguments, and their launches. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "base/bytes.h"
#include "base/object.h"
#include "engine/engine.h"
#include <acl/acl_sim.h>

/* ---- binaries (kernel.c) ---- */

#define SIM_CPU_MODE_NONE (-1)
#define SIM_CPU_MODE_DATA 2 /* loaded from memory, its functions are registered one by one */

/* The options of a load. */
struct sim_binary_options {
    uint32_t bo_magic;   /* ACL_RT_BINARY_MAGIC_ELF_* */
    int32_t bo_cpu_mode;
};

/* A description of bytes in host memory, which are copied; NULL with a message. */
aclrtBinary sim_kernel_describe(const void *data, size_t size);
aclError sim_kernel_undescribe(aclrtBinary description);

/* 107002, 107009 for a file that cannot be opened, 107000 for one that is empty or a library that cannot be opened,
 * 207001; described: also 107017. */
aclError sim_kernel_load_described(aclrtBinary description, aclrtBinHandle *handle);
aclError sim_kernel_load_file(const char *path, const struct sim_binary_options *options, aclrtBinHandle *handle);
aclError sim_kernel_load_data(const void *data, size_t size, const struct sim_binary_options *options,
                              aclrtBinHandle *handle);

/* Its functions and their argument lists are gone with it; tasks that come too late fail. 107017. */
aclError sim_kernel_unload(aclrtBinHandle handle);

/* The function of a name, the same one every time: 107017, 107002, 507027 when neither the binary's symbols nor a
 * registered implementation have it. By entry: of which the name ends in "_<entry>". */
aclError sim_kernel_find(aclrtBinHandle handle, const char *name, aclrtFuncHandle *function);
aclError sim_kernel_find_entry(aclrtBinHandle handle, uint64_t entry, aclrtFuncHandle *function);
/* One of a binary that was loaded in SIM_CPU_MODE_DATA: 107000 for others. */
aclError sim_kernel_find_cpu(aclrtBinHandle handle, const char *entry, const char *name, aclrtFuncHandle *function);

/* Device memory of the current device that holds a copy of the binary: 107002, 107017, 207000 when it has no bytes,
 * 207001. A variable: 107042. */
aclError sim_kernel_address(aclrtBinHandle handle, void **address, size_t *size);
aclError sim_kernel_global(aclrtBinHandle handle, const char *name, void **address, size_t *size);

/* Who is told when a kernel of the binary fails; 107017. */
aclError sim_kernel_set_callback(aclrtBinHandle handle, aclrtOpExceptionCallback callback, void *user);
/* Calls it for the report of a failed kernel. */
struct rtExceptionInfo;
void sim_kernel_exception(const struct rtExceptionInfo *report);

void sim_kernel_reset(void);
void sim_kernel_after_fork(void);

/* ---- functions (kernel_function.c) ---- */

/* Parts of a kernel's code: for cube cores (or whole ones) and for vector cores; device addresses, NULL where it has
 * none. 107017, 107002, 207000 for a kernel without code, 207001. */
struct sim_kernel_code {
    void *kc_cube, *kc_vector;
    size_t kc_cube_size, kc_vector_size;
};
aclError sim_kernel_function_code(aclrtFuncHandle handle, struct sim_kernel_code *code);
aclError sim_kernel_function_sizes(aclrtFuncHandle handle, struct sim_kernel_code *code);
aclError sim_kernel_function_name(aclrtFuncHandle handle, uint32_t length, char *name);
aclError sim_kernel_function_type(aclrtFuncHandle handle, aclrtKernelType *type);
aclError sim_kernel_function_binary(aclrtFuncHandle handle, aclrtBinHandle *binary);

/* Functions that a program names by a handle or by a host symbol: 107044 for what is neither. */
aclError sim_kernel_function_of_symbol(const void *symbol, aclrtFuncHandle *function);
aclError sim_kernel_function_check(const void *function);
/* 207000 when nobody said what parameters it has; 107000 for an index that it has not. */
aclError sim_kernel_function_parameter_count(const void *function, size_t *count);
aclError sim_kernel_function_parameter(const void *function, size_t index, size_t *offset, size_t *size);

/* ---- implementations (kernel_registry.c) ---- */

/* 100000 for one that cannot be used, 200000. */
aclError sim_kernel_registry_register(const char *binary, const char *kernel, const aclsimCustomKernel *implementation);
/* 107017 */
aclError sim_kernel_symbol_register(const void *symbol, aclrtFuncHandle function);

/* ---- variables that a program names by a host symbol (kernel_variable.c) ---- */

/* 107017, 107042 for no variable of the binary, 207001; a NULL binary takes it back. */
aclError sim_kernel_variable_register(const void *symbol, aclrtBinHandle binary, const char *name);
/* The bytes of one on the current device: 107002, 107043 for no symbol of a live binary, 507000 for one that was loaded on
 * another device, 207001. */
struct sim_variable {
    char *va_address;
    size_t va_size;
};
aclError sim_kernel_variable_find(const void *symbol, struct sim_variable *variable);

/* ---- argument lists (kernel_args.c) ---- */

#define SIM_ARGS_BYTES (1u << 20) /* of arguments and their placeholders' data, of one launch */

size_t sim_kernel_args_record_size(void);
/* Bytes that hold arguments of so many bytes, however they are cut up. 107000. */
aclError sim_kernel_args_room(size_t size, size_t *room);
aclError sim_kernel_args_create(aclrtFuncHandle function, aclrtArgsHandle *handle);
/* In the program's memory; the address of its record is the handle from now on. */
aclError sim_kernel_args_create_at(aclrtFuncHandle function, aclrtArgsHandle record, void *memory, size_t size);
/* 107017; 107000 for memory that is too small or a call out of order. */
aclError sim_kernel_args_append(aclrtArgsHandle handle, const void *value, size_t size, aclrtParamHandle *parameter);
aclError sim_kernel_args_append_holder(aclrtArgsHandle handle, aclrtParamHandle *parameter);
aclError sim_kernel_args_holder_data(aclrtArgsHandle handle, aclrtParamHandle parameter, size_t size, void **data);
aclError sim_kernel_args_update(aclrtArgsHandle handle, aclrtParamHandle parameter, const void *value, size_t size);
aclError sim_kernel_args_finish(aclrtArgsHandle handle);

/* ---- launches (kernel_launch.c) ---- */

#define SIM_BLOCKS_MAX 65535 /* of one launch */
#define SIM_THREADS_MAX 2048 /* of one block of a SIMT kernel */

/* Arguments in host memory, and where among them which data's addresses belong. */
struct sim_host_args {
    const void *ha_bytes;
    size_t ha_size;
    const aclrtPlaceHolderInfo *ha_holders;
    size_t ha_holder_count;
};

struct sim_kernel_order {
    const void *ko_function;
    bool ko_by_symbol;       /* the function may be given by a symbol, too */
    dim3 ko_grid, ko_threads;
    const aclrtLaunchKernelCfg *ko_config;
    /* One of four. */
    struct sim_host_args ko_host; /* ha_bytes NULL: none */
    const void *ko_device;        /* device memory of ko_device_size bytes */
    size_t ko_device_size;
    aclrtArgsHandle ko_list;
    void *const *ko_array;        /* pointers to the arguments */
};

/* 107017, 107044, 107000 for values that no launch has or memory that is not there, 207000 without an implementation,
 * 207001, and what submissions answer. */
aclError sim_kernel_launch(const struct sim_kernel_order *order, aclrtStream stream, void *site);

/* A kernel of no binary; `order` names no function, and its arguments lie in host memory, if there are any. */
aclError sim_kernel_launch_plain(const char *name, const aclsimCustomKernel *implementation,
                                 const struct sim_kernel_order *order, aclrtStream stream, void *site);

/* The value of an attribute, the last one where it was given twice; NULL: it was not given. */
static inline const aclrtLaunchKernelAttrValue *sim_kernel_attribute(const aclrtLaunchKernelAttr *attributes, size_t count,
                                                                     aclrtLaunchKernelAttrId id)
{
    while (count-- != 0)
        if (attributes[count].id == id)
            return &attributes[count].value;
    return NULL;
}

/* False for other tasks. */
bool sim_kernel_view(const struct sim_op *op, const void *argument, struct sim_kernel_view *view);

/* The scheduling mode that a task of a kernel was launched with; 0 of others. */
uint8_t sim_kernel_mode(const struct sim_op *op, const void *argument);

/* A copy of a launch's argument, malloc'ed, for sim_kernel_change; NULL without memory. */
void *sim_kernel_copy(const void *argument);
/* Gives a copy other arguments and blocks, and asks the implementation anew what it touches, with no lock held: 107000
 * when they do not fit. */
aclError sim_kernel_change(void *copy, const aclmdlRIKernelTaskParams *parameters);

#endif
