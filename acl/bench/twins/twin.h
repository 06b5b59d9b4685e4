/* What the twins share: checked calls, and a main function that opens a device. */
#ifndef TWIN_H
#define TWIN_H

#include "sample.h"
#include <acl/acl.h>

#define OK(call) twin_check((call), #call)
#define TWIN_MAIN(rows) twin_main(argc, argv, rows, sizeof rows / sizeof *rows, twin_open)

static inline void twin_check(aclError code, const char *call)
{
    if (code == ACL_SUCCESS)
        return;
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s returned %d: %s\n", call, code, message != NULL ? message : "no message");
    exit(1);
}

static inline void twin_open(void)
{
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

#endif
