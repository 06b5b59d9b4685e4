/* Detects a second copy of this library in the process, and reports it when the copy is loaded.
 *
 * A program that opens a vendor's library by its name gets the copy that is loaded already, because all copies have one
 * SONAME. Opening a copy by its path creates a second one, with its own devices, streams and memory, where every handle
 * of the first is unknown. A library cannot prevent this from inside. There is no state and no lock. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

static bool find_place(const void *address, Dl_info *place)
{
    return address != NULL && dladdr(address, place) != 0 && place->dli_fname != NULL;
}

__attribute__((constructor)) static void report_second_copy(void)
{
    static const char here = 0; /* an address in this copy: function names may resolve to the first one */
    Dl_info own, first;
    void *library = dlopen("libacl_sim.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return; /* linked into a program */
    if (find_place(&here, &own) && find_place(dlsym(library, "aclsimReset"), &first) &&
        own.dli_fbase != first.dli_fbase)
        fprintf(stderr,
                "acl simulator: %s is the second copy in this process, after %s: each has its own devices and memory, "
                "and rejects the handles of the other; load only one of them (LD_LIBRARY_PATH, ASCEND_HOME_PATH, "
                "ACL_BACKEND)\n", own.dli_fname, first.dli_fname);
    dlclose(library);
}
