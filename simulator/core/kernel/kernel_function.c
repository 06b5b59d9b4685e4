/* Functions of binaries. A function's properties follow from its binary: the parts of its code from the symbols, its
 * type from these and the magic, its implementation from the registry or the binary's library. The registry is asked
 * again when it has changed. The binary owns its functions; each has its own lock (kernel.c). */
#include "kernel_inner.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_table sim_kernel_functions = SIM_OBJECT_TABLE(struct sim_function, SIM_KIND_FUNCTION);

/* ---- creating ---- */

/* Reads the implementation that the binary's own library exports for the kernel; cu_run is NULL if there is none. */
static aclError read_own(const struct sim_image *image, const char *name, struct sim_custom *own)
{
    char symbol[256];
    *own = (struct sim_custom){0};
    int length = snprintf(symbol, sizeof symbol, SIM_KERNEL_PREFIX "%s", name);
    const aclsimCustomKernel *given =
        image->im_library != NULL && length < (int)sizeof symbol ? dlsym(image->im_library, symbol) : NULL;
    return given != NULL ? sim_kernel_registry_read(given, own) : ACL_SUCCESS;
}

/* Finds the parts of the code. Code that is not split belongs to the type of core that the magic names. */
static void find_code(const struct sim_image *image, const char *name, struct sim_symbol *cube,
                      struct sim_symbol *vector)
{
    struct sim_symbol whole;
    *cube = *vector = (struct sim_symbol){0};
    if (!image->im_is_elf)
        return;
    bool mixed = sim_kernel_elf_find(&image->im_elf, name, "_mix_aic", cube);
    if (sim_kernel_elf_find(&image->im_elf, name, "_mix_aiv", vector) || mixed)
        return;
    if (sim_kernel_elf_find(&image->im_elf, name, "", &whole) && !whole.sy_is_data)
        *(image->im_magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE ? vector : cube) = whole;
}

static aclrtKernelType type_of(const struct sim_image *image, const char *entry, const struct sim_symbol *cube,
                               const struct sim_symbol *vector)
{
    if (*entry != '\0' || image->im_cpu_mode != SIM_CPU_MODE_NONE)
        return ACL_KERNEL_TYPE_AICPU;
    if (cube->sy_name != NULL && vector->sy_name != NULL)
        return ACL_KERNEL_TYPE_MIX;
    switch (image->im_magic) {
    case ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE:
        return ACL_KERNEL_TYPE_VECTOR;
    case ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE:
        return ACL_KERNEL_TYPE_CUBE;
    default:
        return ACL_KERNEL_TYPE_AICORE;
    }
}

static enum sim_task_kind kind_of(aclrtKernelType type)
{
    return type == ACL_KERNEL_TYPE_AICPU    ? SIM_TASK_HOST_KERNEL
           : type == ACL_KERNEL_TYPE_VECTOR ? SIM_TASK_VECTOR
                                            : SIM_TASK_CUBE;
}

aclError sim_kernel_function_create(struct sim_image *image, uint64_t binary, const char *name, const char *entry,
                             struct sim_function **made)
{
    uint64_t handle;
    struct sim_symbol cube, vector;
    struct sim_custom own;
    SIM_TRY(read_own(image, name, &own));
    find_code(image, name, &cube, &vector);
    aclrtKernelType type = type_of(image, entry, &cube, &vector);
    const struct sim_op *op = sim_kernel_op(name, kind_of(type));
    char *copy = *entry != '\0' ? strdup(entry) : NULL;
    SIM_CHECK(op != NULL && (copy != NULL || *entry == '\0'), ACL_ERROR_RT_MEMORY_ALLOCATION,
              "no host memory for the name of a kernel");
    struct sim_function *function = sim_object_take(&sim_kernel_functions, &handle);
    if (function == NULL) {
        free(copy);
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    function->fu_next = NULL;
    function->fu_image = sim_kernel_image_hold(image);
    function->fu_binary = binary;
    function->fu_op = op;
    function->fu_entry = copy;
    function->fu_type = type;
    function->fu_cube = cube;
    function->fu_vector = vector;
    function->fu_own = own;
    function->fu_version = 0;
    function->fu_lists = NULL;
    function->fu_list_count = 0;
    sim_object_publish(function, handle);
    *made = function;
    return ACL_SUCCESS;
}

void sim_kernel_function_destroy(struct sim_function *function)
{
    struct sim_image *image = function->fu_image;
    uint64_t kept = function->fu_list_count < SIM_LISTS_KEPT ? function->fu_list_count : SIM_LISTS_KEPT;
    for (uint64_t i = 0; i < kept; i++)
        sim_kernel_args_destroy(function->fu_lists[i]);
    free(function->fu_lists);
    free(function->fu_entry);
    function->fu_lists = NULL;
    function->fu_entry = NULL;
    sim_object_end(&sim_kernel_functions, function);
    sim_kernel_image_drop(image);
}

/* ---- opening ---- */

aclError sim_kernel_function_open(const void *handle, const char *name, struct sim_function **function)
{
    *function = sim_object_peek(&sim_kernel_functions, handle);
    SIM_CHECK(*function != NULL, ACL_ERROR_RT_INVALID_HANDLE, "%s is %p, %s, expected a live kernel", name,
              handle, sim_handle_describe(handle));
    return ACL_SUCCESS;
}

aclError sim_kernel_function_open_any(const void *handle, struct sim_function **function)
{
    *function = sim_object_peek(&sim_kernel_functions, handle);
    if (*function == NULL)
        *function = sim_object_peek(&sim_kernel_functions, (void *)(uintptr_t)sim_kernel_symbol_find(handle));
    SIM_CHECK(*function != NULL, ACL_ERROR_RT_INVALID_DEVICE_FUNCTION,
              "func is %p, %s, expected a live kernel, or a symbol registered for one (aclsimRegisterSymbol)",
              handle, sim_handle_describe(handle));
    return ACL_SUCCESS;
}

bool sim_kernel_function_custom(struct sim_function *function, struct sim_custom *custom)
{
    uint32_t version = sim_kernel_registry_version();
    if (unlikely(function->fu_version != version)) {
        const char *path = function->fu_image->im_path, *entry = function->fu_entry;
        if (!sim_kernel_registry_find(path, function->fu_op->op_name, &function->fu_custom) &&
            (entry == NULL || !sim_kernel_registry_find(path, entry, &function->fu_custom)))
            function->fu_custom = function->fu_own;
        function->fu_version = version;
    }
    *custom = function->fu_custom;
    return custom->cu_run != NULL;
}

/* ---- queries ---- */

aclError sim_kernel_function_name(aclrtFuncHandle handle, uint32_t length, char *name)
{
    struct sim_function *function;
    SIM_TRY(sim_kernel_function_open(handle, "funcHandle", &function));
    size_t count = strnlen(function->fu_op->op_name, length - 1);
    memcpy(name, function->fu_op->op_name, count);
    name[count] = '\0';
    sim_object_close(function);
    return ACL_SUCCESS;
}

aclError sim_kernel_function_type(aclrtFuncHandle handle, aclrtKernelType *type)
{
    struct sim_function *function;
    SIM_TRY(sim_kernel_function_open(handle, "funcHandle", &function));
    *type = function->fu_type;
    sim_object_close(function);
    return ACL_SUCCESS;
}

aclError sim_kernel_function_binary(aclrtFuncHandle handle, aclrtBinHandle *binary)
{
    struct sim_function *function;
    SIM_TRY(sim_kernel_function_open(handle, "funcHandle", &function));
    *binary = (aclrtBinHandle)(uintptr_t)function->fu_binary;
    sim_object_close(function);
    return ACL_SUCCESS;
}

/* The sizes of the code's parts, and their addresses if there is a base. */
static aclError read_code(const struct sim_function *function, char *base, struct sim_kernel_code *code)
{
    const struct sim_symbol *cube = &function->fu_cube, *vector = &function->fu_vector;
    SIM_SUPPORTED(cube->sy_name != NULL || vector->sy_name != NULL,
                  "binary %s holds no code of kernel %s, which exists only as a registered implementation",
                  function->fu_image->im_name, function->fu_op->op_name);
    *code = (struct sim_kernel_code){.kc_cube_size = cube->sy_size, .kc_vector_size = vector->sy_size};
    if (base != NULL && cube->sy_name != NULL)
        code->kc_cube = base + cube->sy_place;
    if (base != NULL && vector->sy_name != NULL)
        code->kc_vector = base + vector->sy_place;
    return ACL_SUCCESS;
}

aclError sim_kernel_function_sizes(aclrtFuncHandle handle, struct sim_kernel_code *code)
{
    struct sim_function *function;
    SIM_TRY(sim_kernel_function_open(handle, "funcHandle", &function));
    aclError answer = read_code(function, NULL, code);
    sim_object_close(function);
    return answer;
}

aclError sim_kernel_function_code(aclrtFuncHandle handle, struct sim_kernel_code *code)
{
    struct sim_function *function;
    int32_t device;
    void *base;
    SIM_TRY(sim_kernel_function_sizes(handle, code));
    SIM_TRY(sim_kernel_device(&device));
    SIM_TRY(sim_kernel_function_open(handle, "funcHandle", &function));
    aclError answer = sim_kernel_image_place(function->fu_image, device, &base);
    if (answer == ACL_SUCCESS)
        answer = read_code(function, base, code);
    sim_object_close(function);
    return answer;
}

/* ---- symbols and parameters ---- */

aclError sim_kernel_function_of_symbol(const void *symbol, aclrtFuncHandle *handle)
{
    void *found = (void *)(uintptr_t)sim_kernel_symbol_find(symbol);
    SIM_CHECK(sim_table_find(&sim_kernel_functions, found) != NULL, ACL_ERROR_RT_INVALID_DEVICE_FUNCTION,
              "symbol is %p, which is not registered for a live kernel, expected aclsimRegisterSymbol before", symbol);
    *handle = found;
    return ACL_SUCCESS;
}

aclError sim_kernel_function_check(const void *handle)
{
    struct sim_function *function;
    SIM_TRY(sim_kernel_function_open_any(handle, &function));
    sim_object_close(function);
    return ACL_SUCCESS;
}

static aclError find_parameters(const void *handle, struct sim_custom *custom)
{
    struct sim_function *function;
    SIM_TRY(sim_kernel_function_open_any(handle, &function));
    const char *name = function->fu_op->op_name;
    bool known = sim_kernel_function_custom(function, custom) && custom->cu_has_parameters;
    sim_object_close(function);
    SIM_SUPPORTED(known, "the parameters of kernel %s are not known, expected an implementation that names their sizes",
                  name);
    return ACL_SUCCESS;
}

aclError sim_kernel_function_parameter_count(const void *handle, size_t *count)
{
    struct sim_custom custom;
    SIM_TRY(find_parameters(handle, &custom));
    *count = custom.cu_count;
    return ACL_SUCCESS;
}

aclError sim_kernel_function_parameter(const void *handle, size_t index, size_t *offset, size_t *size)
{
    struct sim_custom custom;
    SIM_TRY(find_parameters(handle, &custom));
    SIM_CHECK(index < custom.cu_count, ACL_ERROR_RT_PARAM_INVALID,
              "paramIndex is %zu, expected less than %u, the number of parameters", index, custom.cu_count);
    size_t end = 0, place = 0;
    for (size_t i = 0; i <= index; i++) {
        place = sim_member_place(end, custom.cu_sizes[i]);
        end = place + custom.cu_sizes[i];
    }
    *offset = place;
    *size = custom.cu_sizes[index];
    return ACL_SUCCESS;
}
