/* The opened library: one pointer a declared function, filled by dlsym, never NULL.
 *
 * The generated part before this file defines ACL_FUNCTIONS(X), one X(kind, name, type, since) a function, where kind
 * says what an absent function answers. A name the library lacks keeps its stub, which leaves a message for
 * aclGetRecentErrMsg and answers 207000 (HCCL_E_NOT_SUPPORT where the status is an HcclResult; 0, NULL or nothing where
 * the function has no status). */
#ifndef ACL_BACKEND_H
#define ACL_BACKEND_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char acl_absent_text[320];
static _Thread_local int acl_absent_unread;
static const char *_Atomic acl_absent_last; /* the absent function that was called last, by any thread */
static const char *acl_backend_path = "no library";

/* ACL_SIM_UNSUPPORTED=warn: also one line on stderr, once per function. */
static int acl_absent(const char *function, const char *since, atomic_flag *told)
{
    const char *wanted = getenv("ACL_SIM_UNSUPPORTED");
    snprintf(acl_absent_text, sizeof acl_absent_text, "%s failed because it needs CANN %s: %s has no such function",
             function, since, acl_backend_path);
    acl_absent_unread = 1;
    acl_absent_last = function;
    if (wanted != NULL && strcmp(wanted, "warn") == 0 && !atomic_flag_test_and_set(told))
        fprintf(stderr, "acl: %s\n", acl_absent_text);
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

#define ACL_ABSENT_status(type) return (type)missing
#define ACL_ABSENT_result(type) (void)missing; return HCCL_E_NOT_SUPPORT
#define ACL_ABSENT_value(type) (void)missing; return (type)0
#define ACL_ABSENT_nothing(type) (void)missing
#define ACL_STUB(kind, name, type, since)                                                                              \
    static type absent_##name(void)                                                                                    \
    {                                                                                                                  \
        static atomic_flag told = ATOMIC_FLAG_INIT;                                                                    \
        int missing = acl_absent(#name, since, &told);                                                                 \
        ACL_ABSENT_##kind(type);                                                                                       \
    }
ACL_FUNCTIONS(ACL_STUB)

#define ACL_SLOT(kind, name, type, since) __typeof__(name) *name;
static struct { ACL_FUNCTIONS(ACL_SLOT) } acl_backend = {
#define ACL_START(kind, name, type, since) .name = (__typeof__(name) *)(void (*)(void))absent_##name,
    ACL_FUNCTIONS(ACL_START)
};

#define ACL_NAME(kind, name, type, since) #name,
static const char *const acl_names[] = { ACL_FUNCTIONS(ACL_NAME) };
enum { ACL_COUNT = sizeof acl_names / sizeof acl_names[0] };
static unsigned char acl_found[ACL_COUNT];

/* 1 when the library can wait in slices (the simulator). */
static int acl_backend_waits;

/* What an absent function left comes first, so that one question answers for both. */
static __typeof__(aclGetRecentErrMsg) *acl_recent;
static const char *acl_recent_message(void)
{
    if (!acl_absent_unread)
        return acl_recent();
    acl_absent_unread = 0;
    return acl_absent_text;
}

static int acl_backend_has(const char *name)
{
    for (size_t i = 0; i < ACL_COUNT; i++)
        if (strcmp(acl_names[i], name) == 0)
            return acl_found[i];
    return 0;
}

/* The absent function that was called last, and forgets it; NULL: none. */
static const char *acl_backend_absent(void)
{
    return atomic_exchange(&acl_absent_last, NULL);
}

static const char *acl_backend_name(size_t index)
{
    return index < ACL_COUNT ? acl_names[index] : NULL;
}

/* The path of the simulator that the process has loaded already, as a program does that was linked with a toolkit of
 * ours; NULL: none. All copies have one SONAME. */
static const char *acl_backend_loaded(void)
{
    static char path[4096];
    Dl_info place;
    void *library = dlopen("libacl_sim.so", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library != NULL ? dlsym(library, "aclsimReset") : NULL;
    int found = symbol != NULL && dladdr(symbol, &place) != 0 && place.dli_fname != NULL;
    if (found)
        snprintf(path, sizeof path, "%s", place.dli_fname);
    if (library != NULL)
        dlclose(library);
    return found ? path : NULL;
}

/* The function of libacl_record.so that gives the recording variant of a function; NULL: calls are not recorded. */
static void *(*acl_backend_wrap)(const char *name, void *function);

/* While the process is traced, calls pass the simulator's variants of the functions, which trace them; while they are
 * recorded, the variants of libacl_record.so before these. */
static void acl_backend_trace(void)
{
    int is_traced = acl_backend_has("aclsimTraced") && acl_backend.aclsimTraced(acl_names[0]) != NULL;
    for (size_t i = 0; (is_traced || acl_backend_wrap != NULL) && i < ACL_COUNT; i++) {
        void **place = (void **)((char *)&acl_backend + i * sizeof *place);
        void *variant = is_traced ? acl_backend.aclsimTraced(acl_names[i]) : NULL;
        if (variant != NULL && strcmp(acl_names[i], "aclGetRecentErrMsg") != 0)
            *place = variant;
        if (acl_backend_wrap != NULL)
            *place = acl_backend_wrap(acl_names[i], *place);
    }
}

/* Lets all calls from now on be recorded; the library is not opened after it. NULL, or the loader's reason. */
static const char *acl_backend_record(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *wrap = library != NULL ? dlsym(library, "acl_record_wrap") : NULL;
    if (wrap == NULL)
        return dlerror();
    memcpy(&acl_backend_wrap, &wrap, sizeof wrap);
    acl_backend_trace();
    return NULL;
}

/* Open one library for the names still absent: NULL, or the loader's reason. Libraries stay open with the process. */
static const char *acl_backend_open(const char *path, int global)
{
    void *library = dlopen(path, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == NULL)
        return dlerror();
    __typeof__(aclGetRecentErrMsg) *before = acl_backend.aclGetRecentErrMsg;
    if (acl_recent == NULL)
        acl_backend_path = strdup(path);
    for (size_t i = 0; i < ACL_COUNT; i++) {
        void *symbol = acl_found[i] ? NULL : dlsym(library, acl_names[i]);
        if (symbol != NULL) {
            memcpy((char *)&acl_backend + i * sizeof symbol, &symbol, sizeof symbol);
            acl_found[i] = 1;
        }
    }
    if (acl_recent == NULL || acl_backend.aclGetRecentErrMsg != before) {
        acl_recent = acl_backend.aclGetRecentErrMsg;
        acl_backend.aclGetRecentErrMsg = acl_recent_message;
    }
    acl_backend_waits = acl_backend_has("aclsimWaitSlice");
    acl_backend_trace();
    return NULL;
}

/* The address of a function that is not declared, such as a phase of an operator, in an opened library; NULL: none. */
static void *acl_backend_symbol(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *symbol = library != NULL ? dlsym(library, name) : NULL;
    if (library != NULL)
        dlclose(library);
    return symbol != NULL && acl_backend_wrap != NULL ? acl_backend_wrap(name, symbol) : symbol;
}

#endif
