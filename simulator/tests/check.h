/* Checks of the C tests: the first one that fails prints its location and the error message, and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define CHECK_CODE(call, code)                                                                                         \
    do {                                                                                                               \
        aclError got_ = (call);                                                                                        \
        if (got_ != (code)) {                                                                                          \
            const char *text_ = aclGetRecentErrMsg();                                                                  \
            fprintf(stderr, "%s:%d: %s is %d, expected %d: %s\n", __FILE__, __LINE__, #call, got_, (int)(code),        \
                    text_ != NULL ? text_ : "no message");                                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* The messages recorded since the last check contain this text. */
#define CHECK_TEXT(substring)                                                                                          \
    do {                                                                                                               \
        const char *text_ = aclGetRecentErrMsg();                                                                      \
        if (text_ == NULL || strstr(text_, (substring)) == NULL) {                                                     \
            fprintf(stderr, "%s:%d: the message lacks \"%s\": %s\n", __FILE__, __LINE__, substring,                    \
                    text_ != NULL ? text_ : "no message");                                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
