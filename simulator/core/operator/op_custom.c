/* What programs register for single operators beside tensors: options of a compiler, model files, kernel binaries,
 * and the functions that choose one. The simulator compiles nothing and runs no code of a chip: options are stored
 * and have no effect. Model files are only found in their folder; models check them (model_operator.c), and their
 * operators run by schemas. Binaries and functions are stored by type and id and called as documented, but the
 * operator itself needs a kernel of the simulator. One lock, a leaf, guards all of this; choices are objects with
 * their own locks. */
#include "op.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define LEVELS 3 /* depth of folders that are searched for models */

struct selector {
    struct selector *se_next;
    aclopCompileFunc se_function;
    char se_type[];
};

struct kernel {
    struct kernel *ke_next;
    void *ke_binary; /* never read */
    size_t ke_size;
    aclDataDeallocator ke_deallocator; /* called by aclsimReset; may be NULL */
    char *ke_id;                       /* follows the type */
    char ke_type[];
};

/* Exists while a function chooses. */
struct choice {
    struct sim_object ch_object;
    char *ch_id; /* allocated with malloc; NULL: none was chosen */
};

static struct sim_table choices = SIM_OBJECT_TABLE(struct choice, SIM_KIND_KERNEL_DESC);

static struct sim_lock lock; /* guards the state below; a leaf */
static char *options[SIM_COMPILE_OPTIONS];
static struct selector *selectors;
static struct kernel *kernels;
static bool has_folder;

/* ---- options ---- */

aclError sim_op_set_option(unsigned option, const char *value)
{
    char *copy = strdup(value);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for an option");
    sim_lock(&lock);
    char *former = options[option];
    options[option] = copy;
    sim_unlock(&lock);
    free(former);
    return ACL_SUCCESS;
}

size_t sim_op_get_option(unsigned option, char *value, size_t length)
{
    sim_lock(&lock);
    const char *found = options[option] != NULL ? options[option] : "";
    size_t size = strlen(found) + 1;
    if (size <= length)
        memcpy(value, found, size);
    sim_unlock(&lock);
    return size;
}

/* ---- models of operators ---- */

static bool is_model(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".om") == 0;
}

static aclError load_level(const char *path, int level, sim_op_loader *load);

static aclError load_entry(const char *folder, const char *name, int level, sim_op_loader *load)
{
    char path[4096];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (name[0] == '.' || length < 0 || (size_t)length >= sizeof path || stat(path, &status) != 0)
        return ACL_SUCCESS;
    if (S_ISDIR(status.st_mode))
        return level < LEVELS ? load_level(path, level + 1, load) : ACL_SUCCESS;
    return S_ISREG(status.st_mode) && is_model(name) ? load(path) : ACL_SUCCESS;
}

static aclError load_level(const char *path, int level, sim_op_loader *load)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    aclError code = ACL_SUCCESS;
    SIM_ARGUMENT(folder != NULL, ACL_ERROR_READ_MODEL_FAILURE, "%s is not a readable directory", path);
    while (code == ACL_SUCCESS && (entry = readdir(folder)) != NULL)
        code = load_entry(path, entry->d_name, level, load);
    closedir(folder);
    return code;
}

static bool set_folder(bool set)
{
    sim_lock(&lock);
    bool former = has_folder;
    has_folder = set;
    sim_unlock(&lock);
    return former;
}

aclError sim_op_load_folder(const char *path, sim_op_loader *load)
{
    SIM_ARGUMENT(!set_folder(true), ACL_ERROR_REPEAT_INITIALIZE,
                 "modelDir has been set before, expected one call per process");
    aclError code = load_level(path, 1, load);
    if (code != ACL_SUCCESS)
        set_folder(false);
    return code;
}

/* ---- the user's kernels, and the functions that choose one ---- */

/* Returns the link to the entry, or the end of the list. The lock is held. */
static struct selector **find_selector(const char *type)
{
    struct selector **at = &selectors;
    while (*at != NULL && strcmp((*at)->se_type, type) != 0)
        at = &(*at)->se_next;
    return at;
}

aclError sim_op_add_selector(const char *type, aclopCompileFunc function)
{
    struct selector *fresh = malloc(sizeof *fresh + strlen(type) + 1);
    SIM_ARGUMENT(fresh != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for type %s", type);
    fresh->se_function = function;
    strcpy(fresh->se_type, type);
    sim_lock(&lock);
    bool is_new = *find_selector(type) == NULL;
    if (is_new) {
        fresh->se_next = selectors;
        selectors = fresh;
    }
    sim_unlock(&lock);
    if (!is_new)
        free(fresh);
    SIM_ARGUMENT(is_new, ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED,
                 "opType is %s, which has a function already, expected aclopUnregisterCompileFunc before", type);
    return ACL_SUCCESS;
}

static aclError refuse_selector(const char *type)
{
    return sim_refuse(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED,
                      "opType is %s, which has no function, expected aclopRegisterCompileFunc before", type);
}

aclError sim_op_remove_selector(const char *type)
{
    sim_lock(&lock);
    struct selector **at = find_selector(type), *found = *at;
    if (found != NULL)
        *at = found->se_next;
    sim_unlock(&lock);
    if (found == NULL)
        return refuse_selector(type);
    free(found);
    return ACL_SUCCESS;
}

/* The lock is held. */
static bool has_kernel(const char *type, const char *id)
{
    for (const struct kernel *kernel = kernels; kernel != NULL; kernel = kernel->ke_next)
        if (strcmp(kernel->ke_type, type) == 0 && strcmp(kernel->ke_id, id) == 0)
            return true;
    return false;
}

aclError sim_op_add_kernel(const char *type, const char *id, void *binary, size_t size, aclDataDeallocator deallocator)
{
    struct kernel *fresh = malloc(sizeof *fresh + strlen(type) + strlen(id) + 2);
    SIM_ARGUMENT(fresh != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for kernel %s", id);
    *fresh = (struct kernel){.ke_binary = binary, .ke_size = size, .ke_deallocator = deallocator};
    strcpy(fresh->ke_type, type);
    fresh->ke_id = strcpy(fresh->ke_type + strlen(type) + 1, id);
    sim_lock(&lock);
    bool is_new = !has_kernel(type, id);
    if (is_new) {
        fresh->ke_next = kernels;
        kernels = fresh;
    }
    sim_unlock(&lock);
    if (!is_new)
        free(fresh);
    SIM_ARGUMENT(is_new, ACL_ERROR_KERNEL_ALREADY_REGISTERED, "kernelId is %s, which %s has already", id, type);
    return ACL_SUCCESS;
}

aclError sim_op_choose_kernel(const aclopKernelDesc *desc, const char *id)
{
    struct choice *choice = sim_object_open(&choices, desc, "kernelDesc", ACL_ERROR_INVALID_PARAM);
    if (choice == NULL)
        return ACL_ERROR_INVALID_PARAM;
    char *former = choice->ch_id, *copy = id != NULL ? strdup(id) : NULL;
    if (copy != NULL)
        choice->ch_id = copy;
    sim_object_close(choice);
    if (copy != NULL)
        free(former);
    SIM_ARGUMENT(copy != NULL || id == NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for kernelId");
    return ACL_SUCCESS;
}

/* Ends a choice; returns 100029 if no kernel has the chosen id. */
static aclError end_choice(struct choice *choice, const char *type)
{
    char *id = choice->ch_id;
    choice->ch_id = NULL;
    sim_object_end(&choices, choice);
    sim_lock(&lock);
    bool found = id != NULL && has_kernel(type, id);
    sim_unlock(&lock);
    aclError code = found ? ACL_SUCCESS
                          : sim_refuse(ACL_ERROR_KERNEL_NOT_FOUND, "the function of %s chose kernel %s, expected the "
                                       "kernelId of an aclopCreateKernel", type, id != NULL ? id : "none");
    free(id);
    return code;
}

/* Calls the user's function without a lock, and then restores the name of this call for messages. */
aclError sim_op_select(const struct sim_op_given *given)
{
    uint64_t handle;
    const char *name = sim_thread.th_function;
    SIM_TRY(sim_op_check_given(given));
    sim_lock(&lock);
    const struct selector *found = *find_selector(given->gi_type);
    aclopCompileFunc function = found != NULL ? found->se_function : NULL;
    sim_unlock(&lock);
    if (function == NULL)
        return refuse_selector(given->gi_type);
    struct choice *choice = sim_object_take(&choices, &handle);
    if (choice == NULL)
        return ACL_ERROR_BAD_ALLOC;
    choice->ch_id = NULL;
    aclopKernelDesc *desc = sim_object_publish(choice, handle);
    aclError code = function(given->gi_input_count, given->gi_input_descs, given->gi_output_count,
                             given->gi_output_descs, given->gi_attr, desc);
    sim_thread.th_function = name;
    choice = sim_object_open(&choices, desc, "kernelDesc", ACL_ERROR_INVALID_PARAM);
    if (choice == NULL) /* aclsimReset was called meanwhile */
        return ACL_ERROR_INVALID_PARAM;
    aclError ended = end_choice(choice, given->gi_type);
    SIM_ARGUMENT(code == ACL_SUCCESS, code, "the function of %s returned %d", given->gi_type, code);
    return ended;
}

/* ---- the end of everything ---- */

static void destroy_choice(void *object)
{
    struct choice *choice = object;
    free(choice->ch_id);
    choice->ch_id = NULL;
    sim_object_end(&choices, choice);
}

static void forget_kernels(void)
{
    sim_lock(&lock);
    struct kernel *kernel = kernels;
    kernels = NULL;
    sim_unlock(&lock);
    while (kernel != NULL) {
        struct kernel *next = kernel->ke_next;
        if (kernel->ke_deallocator != NULL)
            kernel->ke_deallocator(kernel->ke_binary, kernel->ke_size);
        free(kernel);
        kernel = next;
    }
}

void sim_op_custom_reset(void)
{
    sim_object_destroy_all(&choices, destroy_choice);
    forget_kernels();
    sim_lock(&lock);
    while (selectors != NULL) {
        struct selector *selector = selectors;
        selectors = selector->se_next;
        free(selector);
    }
    for (size_t i = 0; i < SIM_COMPILE_OPTIONS; i++) {
        free(options[i]);
        options[i] = NULL;
    }
    has_folder = false;
    sim_unlock(&lock);
}

/* The child leaves the parent's state alone, because another thread may have been changing it. */
void sim_op_custom_after_fork(void)
{
    sim_table_empty(&choices);
    sim_lock_renew(&lock);
    selectors = NULL;
    kernels = NULL;
    memset(options, 0, sizeof options);
    has_folder = false;
}
