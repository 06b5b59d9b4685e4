/* What functions without behaviour return (missing.h).
 *
 * It owns the list of functions already reported on stderr, whose entries are set by atomic exchange; there is no
 * lock. */
#include "missing.h"
#include "config.h"

#include <stdio.h>
#include <string.h>

#define FUNCTIONS 2048 /* more than the functions and entry points of operators that can be absent */

/* True the first time for each name. */
static bool is_first(const char *function)
{
    static const char *_Atomic said[FUNCTIONS];
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const char *name = NULL;
        if (atomic_compare_exchange_strong(&said[i], &name, function))
            return true;
        if (strcmp(name, function) == 0)
            break;
    }
    return false;
}

static aclError refuse_absent(const char *function, const char *why)
{
    sim_thread.th_function = function;
    if (sim_config()->cf_warns && is_first(function))
        fprintf(stderr, "acl: %s failed because %s\n", function, why);
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why);
}

aclError sim_missing(const char *function)
{
    return refuse_absent(function, "this simulator does not provide it yet; "
                                   "`python -m acl abi --missing` lists the functions of AscendCL without behaviour");
}

aclError sim_missing_linked(const char *function)
{
    return refuse_absent(function, "this simulator exports only its name, so that programs that link to it can be "
                         "loaded; it has no behaviour");
}

aclError sim_missing_newer(const char *function, const char *since)
{
    char why[80];
    uint32_t cann = sim_config()->cf_cann;
    snprintf(why, sizeof why, "it needs CANN %.16s, and ACL_SIM_CANN is %u.%u", since, cann / 100, cann % 100);
    return refuse_absent(function, why);
}
