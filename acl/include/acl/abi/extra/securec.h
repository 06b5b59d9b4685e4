/* Bounded copies and prints of C, libc_sec.so. A call that would write past the target empties it and fails. */

#define EOK 0
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#define EOVERLAP_AND_RESET 182
#define SECUREC_MEM_MAX_LEN 0x7fffffff
#define SECUREC_STRING_MAX_LEN 0x7fffffff

typedef int errno_t;

/** Copy count bytes between ranges that do not overlap. */
ACL_API(8, 1) errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count);
/** Copy count bytes between ranges that may overlap. */
ACL_API(8, 1) errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count);
/** Set count bytes. */
ACL_API(8, 1) errno_t memset_s(void *dest, size_t destMax, int c, size_t count);
/** Copy a text. */
ACL_API(8, 1) errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc);
/** Copy at most count characters of a text. */
ACL_API(8, 1) errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count);
/** Append a text. */
ACL_API(8, 1) errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc);
/** Append at most count characters of a text. */
ACL_API(8, 1) errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count);
/** Split the next token off a text; context keeps the rest. */
ACL_API(8, 1) char *strtok_s(char *strToken, const char *strDelimit, char **context);
/** Print into a buffer; -1 when it does not fit. */
ACL_API(8, 1) int sprintf_s(char *strDest, size_t destMax, const char *format, ...);
/** Print into a buffer; -1 when it does not fit. */
ACL_API(8, 1) int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList);
/** Print at most count characters; -1 when there are more, which are cut off. */
ACL_API(8, 1) int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...);
/** Print at most count characters; -1 when there are more, which are cut off. */
ACL_API(8, 1) int vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format, va_list argList);
