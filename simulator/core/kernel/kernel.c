/* Design notes
 *
 * Kernel binaries: descriptions, loading and unloading, finding functions and variables, copies on devices, and
 * exception callbacks.
 *
 * A binary is an image (what was loaded) and a list of functions, each created when it is first requested. Kernels for
 * a card cannot run here: a function is run by an implementation that was registered for it (kernel_registry.c), or by
 * one that the binary exports, if it is a shared library for this machine. Such a library is opened only if it has a
 * symbol that begins with aclsim_kernel_, which no file has by chance. Code of other files is never executed. The
 * functions of a binary are those of its symbols (also with the endings that the vendor's compiler gives to the halves
 * of a mixed kernel), and those that have an implementation.
 *
 * Ownership. The binary, each function and each running task are users of the image, which is counted. A queued task
 * holds only the function's handle, so that unloading never waits: a task that runs later finds the handle dead and
 * fails, and a task that is running keeps the library open.
 *
 * Locking. A binary's lock guards its functions; then a function's, then an argument list's may be taken. Images and
 * the registry have leaves. No user code runs under any of them; dlopen, which runs constructors, is called without
 * a lock. */
#include "address/memory.h"
#include "base/output.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/exception.h"
#include "kernel_inner.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct description {
    struct sim_object de_object;
    struct sim_bytes de_bytes; /* allocated with malloc */
};

struct binary {
    struct sim_object bi_object;
    struct sim_image *bi_image;
    struct sim_function *bi_functions;
    aclrtOpExceptionCallback bi_callback; /* NULL: not set */
    void *bi_user;
};

static struct sim_table descriptions = SIM_OBJECT_TABLE(struct description, SIM_KIND_DESCRIPTION);
static struct sim_table binaries = SIM_OBJECT_TABLE(struct binary, SIM_KIND_BINARY);

static aclError open_object(struct sim_table *table, const void *handle, const char *name, void *object)
{
    *(void **)object = sim_object_peek(table, handle);
    SIM_CHECK(*(void **)object != NULL, ACL_ERROR_RT_INVALID_HANDLE, "%s is %p, %s, expected a live %s", name,
              handle, sim_handle_describe(handle), sim_table_name(table));
    return ACL_SUCCESS;
}

static aclError copy_bytes(const void *data, size_t size, struct sim_bytes *copy)
{
    SIM_CHECK(sim_memory_is_host(data), ACL_ERROR_RT_PARAM_INVALID,
              "data is %p, which is device memory, expected host memory", data);
    unsigned char *bytes = malloc(size);
    SIM_CHECK(bytes != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a binary of %zu bytes", size);
    memcpy(bytes, data, size);
    *copy = (struct sim_bytes){bytes, size};
    return ACL_SUCCESS;
}

aclError sim_kernel_device(int32_t *device)
{
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *device = context->cx_device->dv_id;
    return ACL_SUCCESS;
}

/* ---- descriptions ---- */

aclrtBinary sim_kernel_describe(const void *data, size_t size)
{
    uint64_t handle;
    struct sim_bytes copy;
    if (copy_bytes(data, size, &copy) != ACL_SUCCESS)
        return NULL;
    struct description *description = sim_object_take(&descriptions, &handle);
    if (description == NULL) {
        free((void *)(uintptr_t)copy.by_data);
        return NULL;
    }
    description->de_bytes = copy;
    return sim_object_publish(description, handle);
}

static void destroy_description(void *object)
{
    struct description *description = object;
    free((void *)(uintptr_t)description->de_bytes.by_data);
    sim_object_end(&descriptions, description);
}

aclError sim_kernel_undescribe(aclrtBinary handle)
{
    struct description *description;
    SIM_TRY(open_object(&descriptions, handle, "binary", &description));
    destroy_description(description);
    return ACL_SUCCESS;
}

/* ---- images ---- */

static void free_image(struct sim_image *image)
{
    if (image->im_library != NULL)
        dlclose(image->im_library);
    free((void *)(uintptr_t)image->im_content.by_data);
    free(image->im_path);
    free(image->im_name);
    free(image);
}

void sim_kernel_image_drop(struct sim_image *image)
{
    if (atomic_fetch_sub_explicit(&image->im_users, 1, memory_order_acq_rel) == 1)
        free_image(image);
}

static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1, *dot = strrchr(last, '.');
    return strndup(last, dot == NULL ? strlen(last) : (size_t)(dot - last));
}

/* Makes an image and owns the bytes, also if it fails. Returns NULL if memory runs out. */
static struct sim_image *make_image(const char *path, struct sim_bytes content,
                                    const struct sim_binary_options *options)
{
    struct sim_image *image = calloc(1, sizeof *image);
    if (image == NULL) {
        free((void *)(uintptr_t)content.by_data);
        return NULL;
    }
    atomic_store_explicit(&image->im_users, 1, memory_order_relaxed);
    image->im_content = content;
    image->im_is_elf = content.by_data != NULL && sim_kernel_elf_open(content, &image->im_elf);
    image->im_magic = options->bo_magic;
    image->im_cpu_mode = options->bo_cpu_mode;
    image->im_path = strdup(path);
    image->im_name = stem_of(path);
    if (image->im_path != NULL && image->im_name != NULL)
        return image;
    sim_kernel_image_drop(image);
    return NULL;
}

static bool has_implementation(const struct sim_elf *elf)
{
    struct sim_symbol symbol;
    for (uint64_t i = 0; i < elf->el_symbol_count; i++)
        if (sim_kernel_elf_symbol(elf, i, &symbol) && symbol.sy_is_data &&
            strncmp(symbol.sy_name, SIM_KERNEL_PREFIX, strlen(SIM_KERNEL_PREFIX)) == 0)
            return true;
    return false;
}

static void *open_file(const char *path)
{
    char *whole = realpath(path, NULL); /* dlopen looks elsewhere for a name without a slash */
    void *library = dlopen(whole != NULL ? whole : path, RTLD_NOW | RTLD_LOCAL);
    free(whole);
    return library;
}

/* Opens a library that was loaded from memory, from a file without a name. */
static void *open_bytes(struct sim_bytes bytes)
{
    char path[32];
    void *library = NULL;
    int file = memfd_create("aclsim-kernel", MFD_CLOEXEC);
    if (file < 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *memory = sim_output_resize(file, bytes.by_size) == 0
                       ? mmap(NULL, bytes.by_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (memory != MAP_FAILED) {
        memcpy(memory, bytes.by_data, bytes.by_size);
        munmap(memory, bytes.by_size);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    close(file);
    return library;
}

static aclError open_library(struct sim_image *image)
{
    if (!image->im_is_elf || !sim_kernel_elf_is_library(&image->im_elf) || !has_implementation(&image->im_elf))
        return ACL_SUCCESS;
    image->im_library = *image->im_path != '\0' ? open_file(image->im_path) : open_bytes(image->im_content);
    if (image->im_library != NULL)
        return ACL_SUCCESS;
    const char *reason = dlerror();
    return sim_fail(ACL_ERROR_RT_PARAM_INVALID, "the binary is a shared library that cannot be opened: %s",
                    reason != NULL ? reason : "there is no memory for it");
}

/* Whether the copy on a device still belongs to the image. The lock is held. */
static bool is_copied(const struct sim_image *image, int32_t device)
{
    struct sim_place place;
    if (image->im_copies[device].co_address == NULL)
        return false;
    sim_memory_locate(image->im_copies[device].co_address, &place);
    return place.pl_class == SIM_MEMORY_DEVICE && place.pl_block.bk_birth == image->im_copies[device].co_birth;
}

static aclError copy_to(struct sim_image *image, int32_t device)
{
    struct sim_place place;
    void *address;
    uint64_t size = image->im_is_elf ? image->im_elf.el_memory : image->im_content.by_size;
    SIM_TRY(sim_memory_take(&address, size));
    unsigned char *bytes = sim_memory_reach(address);
    memcpy(bytes, image->im_content.by_data, image->im_content.by_size);
    memset(bytes + image->im_content.by_size, 0, size - image->im_content.by_size);
    sim_memory_locate(address, &place);
    image->im_copies[device].co_address = address;
    image->im_copies[device].co_birth = place.pl_block.bk_birth;
    return ACL_SUCCESS;
}

aclError sim_kernel_image_place(struct sim_image *image, int32_t device, void **address)
{
    SIM_SUPPORTED(image->im_content.by_data != NULL,
                  "binary %s has no code: its kernels exist only as registered implementations", image->im_name);
    sim_lock(&image->im_lock);
    aclError code = is_copied(image, device) ? ACL_SUCCESS : copy_to(image, device);
    *address = image->im_copies[device].co_address;
    sim_unlock(&image->im_lock);
    return code;
}

bool sim_kernel_image_is_on(struct sim_image *image, int32_t device)
{
    if (device == image->im_device)
        return true;
    sim_lock(&image->im_lock);
    bool is_on = is_copied(image, device);
    sim_unlock(&image->im_lock);
    return is_on;
}

static void free_copies(struct sim_image *image)
{
    sim_lock(&image->im_lock);
    for (int32_t device = 0; device < SIM_DEVICES_MAX; device++) {
        if (is_copied(image, device))
            sim_memory_release(image->im_copies[device].co_address, NULL);
        image->im_copies[device].co_address = NULL;
    }
    sim_unlock(&image->im_lock);
}

/* ---- loading ---- */

static aclError publish(struct sim_image *image, aclrtBinHandle *handle)
{
    uint64_t value;
    struct binary *binary = sim_object_take(&binaries, &value);
    if (binary == NULL) {
        sim_kernel_image_drop(image);
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    binary->bi_image = image;
    binary->bi_functions = NULL;
    binary->bi_callback = NULL;
    *handle = sim_object_publish(binary, value);
    return ACL_SUCCESS;
}

static aclError load(int32_t device, const char *path, struct sim_bytes content,
                     const struct sim_binary_options *options, aclrtBinHandle *handle)
{
    struct sim_image *image = make_image(path, content, options);
    SIM_CHECK(image != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a binary");
    image->im_device = device;
    aclError code = open_library(image);
    if (code == ACL_SUCCESS)
        return publish(image, handle);
    sim_kernel_image_drop(image);
    return code;
}

aclError sim_kernel_load_file(const char *path, const struct sim_binary_options *options, aclrtBinHandle *handle)
{
    static const struct sim_read_codes codes = {ACL_ERROR_RT_FILE_OPEN, ACL_ERROR_RT_PARAM_INVALID,
                                                ACL_ERROR_RT_MEMORY_ALLOCATION, 0};
    int32_t device;
    struct sim_bytes content = {NULL, 0};
    SIM_TRY(sim_kernel_device(&device));
    if (access(path, F_OK) == 0 || !sim_kernel_registry_knows(path))
        SIM_TRY(sim_bytes_read(path, "binPath", &codes, &content));
    return load(device, path, content, options, handle);
}

aclError sim_kernel_load_data(const void *data, size_t size, const struct sim_binary_options *options,
                              aclrtBinHandle *handle)
{
    int32_t device;
    struct sim_bytes content;
    SIM_TRY(sim_kernel_device(&device));
    SIM_TRY(copy_bytes(data, size, &content));
    return load(device, "", content, options, handle);
}

aclError sim_kernel_load_described(aclrtBinary handle, aclrtBinHandle *binary)
{
    static const struct sim_binary_options plain = {ACL_RT_BINARY_MAGIC_ELF_AICORE, SIM_CPU_MODE_NONE};
    int32_t device;
    struct description *description;
    struct sim_bytes content;
    SIM_TRY(open_object(&descriptions, handle, "binary", &description));
    aclError code = copy_bytes(description->de_bytes.by_data, description->de_bytes.by_size, &content);
    sim_object_close(description);
    SIM_TRY(code);
    code = sim_kernel_device(&device);
    if (code == ACL_SUCCESS)
        return load(device, "", content, &plain, binary);
    free((void *)(uintptr_t)content.by_data);
    return code;
}

/* Opens the binary and finds the current device. The device is looked up without the lock, because that may open a
 * default device, which runs user code. */
static aclError open_on_device(aclrtBinHandle handle, struct binary **binary, int32_t *device)
{
    SIM_TRY(open_object(&binaries, handle, "binHandle", binary));
    sim_object_close(*binary);
    SIM_TRY(sim_kernel_device(device));
    return open_object(&binaries, handle, "binHandle", binary);
}

static void destroy_binary(void *object)
{
    struct binary *binary = object;
    struct sim_image *image = binary->bi_image;
    for (struct sim_function *function; (function = binary->bi_functions) != NULL;) {
        binary->bi_functions = function->fu_next;
        sim_lock(&function->fu_object.ob_lock);
        sim_kernel_function_destroy(function);
    }
    sim_object_end(&binaries, binary);
    free_copies(image);
    sim_kernel_image_drop(image);
}

aclError sim_kernel_unload(aclrtBinHandle handle)
{
    struct binary *binary;
    SIM_TRY(open_object(&binaries, handle, "binHandle", &binary));
    destroy_binary(binary);
    return ACL_SUCCESS;
}

/* ---- finding ---- */

/* A function is created once per binary; later requests return it. */
static struct sim_function *known_function(const struct binary *binary, const char *name, const char *entry)
{
    struct sim_function *function = binary->bi_functions;
    while (function != NULL && (strcmp(function->fu_op->op_name, name) != 0 ||
                                strcmp(function->fu_entry != NULL ? function->fu_entry : "", entry) != 0))
        function = function->fu_next;
    return function;
}

/* Returns the handle of the function, which is created at the first request. `entry` is "" except for CPU kernels. */
static aclError give_function(struct binary *binary, uint64_t handle, const char *name, const char *entry,
                              aclrtFuncHandle *found)
{
    struct sim_function *function = known_function(binary, name, entry);
    if (function == NULL) {
        SIM_TRY(sim_kernel_function_create(binary->bi_image, handle, name, entry, &function));
        function->fu_next = binary->bi_functions;
        binary->bi_functions = function;
    }
    *found = (aclrtFuncHandle)(uintptr_t)atomic_load_explicit(&function->fu_object.ob_slot.sl_handle,
                                                              memory_order_relaxed);
    return ACL_SUCCESS;
}

/* Whether the binary has a kernel of this name. */
static bool has_kernel(const struct sim_image *image, const char *name)
{
    static const char *const endings[] = {"", "_mix_aic", "_mix_aiv"};
    char own[256];
    struct sim_symbol symbol;
    struct sim_custom custom;
    for (size_t i = 0; image->im_is_elf && i < sizeof endings / sizeof *endings; i++)
        if (sim_kernel_elf_find(&image->im_elf, name, endings[i], &symbol) && !symbol.sy_is_data)
            return true;
    int length = snprintf(own, sizeof own, SIM_KERNEL_PREFIX "%s", name);
    if (image->im_library != NULL && length < (int)sizeof own && dlsym(image->im_library, own) != NULL)
        return true;
    return sim_kernel_registry_find(image->im_path, name, &custom);
}

static aclError find(struct binary *binary, uint64_t handle, const char *name, aclrtFuncHandle *function)
{
    const struct sim_image *image = binary->bi_image;
    SIM_CHECK(has_kernel(image, name), ACL_ERROR_RT_KERNEL_LOOKUP,
              "binary %s has no kernel \"%s\", expected one of its symbols%s, or one with a registered implementation "
              "(acl.sim.custom_kernel, aclsimRegisterCustomKernel)",
              *image->im_name != '\0' ? image->im_name : "(from memory)", name,
              image->im_is_elf ? "" : ", of which it has none: it is not an ELF file");
    return give_function(binary, handle, name, "", function);
}

aclError sim_kernel_find(aclrtBinHandle handle, const char *name, aclrtFuncHandle *function)
{
    struct binary *binary;
    int32_t device;
    SIM_TRY(open_on_device(handle, &binary, &device));
    aclError code = find(binary, (uint64_t)(uintptr_t)handle, name, function);
    sim_object_close(binary);
    return code;
}

/* Removes the ending of a mixed kernel's half from a name. */
static void cut_half(char *name)
{
    size_t length = strlen(name);
    if (length > 8 && (strcmp(name + length - 8, "_mix_aic") == 0 || strcmp(name + length - 8, "_mix_aiv") == 0))
        name[length - 8] = '\0';
}

/* Finds the name of the kernel that ends in "_<entry>". */
static bool name_of_entry(const struct sim_image *image, uint64_t entry, char *name, size_t size)
{
    char ending[24];
    struct sim_symbol symbol;
    size_t length = (size_t)snprintf(ending, sizeof ending, "_%" PRIu64, entry);
    for (uint64_t i = 0; image->im_is_elf && i < image->im_elf.el_symbol_count; i++) {
        if (!sim_kernel_elf_symbol(&image->im_elf, i, &symbol) || symbol.sy_is_data || strlen(symbol.sy_name) >= size)
            continue;
        strcpy(name, symbol.sy_name);
        cut_half(name);
        if (strlen(name) > length && strcmp(name + strlen(name) - length, ending) == 0)
            return true;
    }
    return sim_kernel_registry_find_ending(image->im_path, ending, name, size);
}

static aclError find_entry(struct binary *binary, uint64_t handle, uint64_t entry, aclrtFuncHandle *function)
{
    char name[512];
    SIM_CHECK(name_of_entry(binary->bi_image, entry, name, sizeof name), ACL_ERROR_RT_KERNEL_LOOKUP,
              "binary %s has no kernel of entry %" PRIu64 ", expected one whose name ends in _%" PRIu64,
              binary->bi_image->im_name, entry, entry);
    return find(binary, handle, name, function);
}

aclError sim_kernel_find_entry(aclrtBinHandle handle, uint64_t entry, aclrtFuncHandle *function)
{
    struct binary *binary;
    int32_t device;
    SIM_TRY(open_on_device(handle, &binary, &device));
    aclError code = find_entry(binary, (uint64_t)(uintptr_t)handle, entry, function);
    sim_object_close(binary);
    return code;
}

aclError sim_kernel_find_cpu(aclrtBinHandle handle, const char *entry, const char *name, aclrtFuncHandle *function)
{
    struct binary *binary;
    SIM_TRY(open_object(&binaries, handle, "handle", &binary));
    aclError code = ACL_SUCCESS;
    if (binary->bi_image->im_cpu_mode != SIM_CPU_MODE_DATA)
        code = sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "handle is not a binary of CPU functions, expected one that aclrtBinaryLoadFromData loaded "
                        "with ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE 2");
    else
        code = give_function(binary, (uint64_t)(uintptr_t)handle, name, entry, function);
    sim_object_close(binary);
    return code;
}

/* ---- addresses ---- */

struct sim_image *sim_kernel_image_of(aclrtBinHandle handle)
{
    struct binary *binary = sim_object_peek(&binaries, handle);
    if (binary == NULL)
        return NULL;
    struct sim_image *image = sim_kernel_image_hold(binary->bi_image);
    sim_object_close(binary);
    return image;
}

aclError sim_kernel_address(aclrtBinHandle handle, void **address, size_t *size)
{
    struct binary *binary;
    int32_t device;
    SIM_TRY(open_on_device(handle, &binary, &device));
    aclError code = sim_kernel_image_place(binary->bi_image, device, address);
    if (code == ACL_SUCCESS)
        *size = binary->bi_image->im_content.by_size;
    sim_object_close(binary);
    return code;
}

aclError sim_kernel_image_variable(const struct sim_image *image, const char *name, struct sim_symbol *symbol)
{
    SIM_CHECK(image->im_is_elf && sim_kernel_elf_find(&image->im_elf, name, "", symbol) && symbol->sy_is_data,
              ACL_ERROR_RT_SYMBOL_NOT_FOUND, "name is \"%s\", which is not a variable of binary %s", name,
              image->im_name);
    return ACL_SUCCESS;
}

static aclError find_global(struct sim_image *image, int32_t device, const char *name, void **address,
                            size_t *size)
{
    struct sim_symbol symbol;
    void *base;
    SIM_TRY(sim_kernel_image_variable(image, name, &symbol));
    SIM_TRY(sim_kernel_image_place(image, device, &base));
    *address = (char *)base + symbol.sy_place;
    *size = symbol.sy_size;
    return ACL_SUCCESS;
}

aclError sim_kernel_global(aclrtBinHandle handle, const char *name, void **address, size_t *size)
{
    struct binary *binary;
    int32_t device;
    SIM_TRY(open_on_device(handle, &binary, &device));
    aclError code = find_global(binary->bi_image, device, name, address, size);
    sim_object_close(binary);
    return code;
}

/* ---- exceptions ---- */

aclError sim_kernel_set_callback(aclrtBinHandle handle, aclrtOpExceptionCallback callback, void *user)
{
    struct binary *binary;
    SIM_TRY(open_object(&binaries, handle, "binHandle", &binary));
    binary->bi_callback = callback;
    binary->bi_user = user;
    sim_object_close(binary);
    return ACL_SUCCESS;
}

void sim_kernel_exception(const struct rtExceptionInfo *report)
{
    struct sim_function *function = sim_object_peek(&sim_kernel_functions, (void *)(uintptr_t)report->ex_function);
    if (function == NULL)
        return;
    uint64_t owner = function->fu_binary;
    sim_object_close(function);
    struct binary *binary = sim_object_peek(&binaries, (void *)(uintptr_t)owner);
    if (binary == NULL)
        return;
    aclrtOpExceptionCallback callback = binary->bi_callback;
    void *user = binary->bi_user;
    sim_object_close(binary);
    if (callback != NULL)
        callback((aclrtExceptionInfo *)report, user);
}

/* ---- the end of everything ---- */

void sim_kernel_reset(void)
{
    sim_object_destroy_all(&binaries, destroy_binary);
    sim_object_destroy_all(&descriptions, destroy_description);
    sim_kernel_args_reset();
    sim_kernel_registry_reset();
    sim_kernel_variable_reset();
}

void sim_kernel_after_fork(void)
{
    sim_table_empty(&binaries);
    sim_table_empty(&descriptions);
    sim_table_empty(&sim_kernel_functions);
    sim_kernel_args_after_fork();
    sim_kernel_registry_after_fork();
    sim_kernel_variable_after_fork();
}
