/* Bounded copies and prints. A target that is too small is emptied, so that a truncated text is never taken for the
 * whole. */
#include <securec.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OVERLAP(a, b, n) ((uintptr_t)(a) < (uintptr_t)(b) + (n) && (uintptr_t)(b) < (uintptr_t)(a) + (n))

/* The checks that all memory copies share: the target, the source, the size. */
static errno_t check_memory(void *dest, size_t destMax, const void *src, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN)
        return ERANGE;
    if (dest == NULL)
        return EINVAL;
    if (src == NULL || count > destMax) {
        memset(dest, 0, destMax);
        return src == NULL ? EINVAL_AND_RESET : ERANGE_AND_RESET;
    }
    return EOK;
}

errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count)
{
    errno_t code = check_memory(dest, destMax, src, count);
    if (code != EOK || dest == src)
        return code;
    if (OVERLAP(dest, src, count)) {
        memset(dest, 0, destMax);
        return EOVERLAP_AND_RESET;
    }
    memcpy(dest, src, count);
    return EOK;
}

errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count)
{
    errno_t code = check_memory(dest, destMax, src, count);
    if (code == EOK)
        memmove(dest, src, count);
    return code;
}

errno_t memset_s(void *dest, size_t destMax, int c, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN)
        return ERANGE;
    if (dest == NULL)
        return EINVAL;
    memset(dest, c, count <= destMax ? count : destMax);
    return count <= destMax ? EOK : ERANGE_AND_RESET;
}

/* Appends the first `count` characters of a text to the first `used` characters of the target. */
static errno_t append(char *dest, size_t destMax, size_t used, const char *src, size_t count)
{
    if (src == NULL) {
        dest[0] = '\0';
        return EINVAL_AND_RESET;
    }
    size_t length = strnlen(src, count < destMax ? count : destMax);
    if (used + length >= destMax) {
        dest[0] = '\0';
        return ERANGE_AND_RESET;
    }
    if (src != dest + used && OVERLAP(dest + used, src, length + 1)) {
        dest[0] = '\0';
        return EOVERLAP_AND_RESET;
    }
    memmove(dest + used, src, length);
    dest[used + length] = '\0';
    return EOK;
}

errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_STRING_MAX_LEN)
        return ERANGE;
    return strDest == NULL ? EINVAL : append(strDest, destMax, 0, strSrc, count);
}

errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc)
{
    return strncpy_s(strDest, destMax, strSrc, SIZE_MAX);
}

errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_STRING_MAX_LEN)
        return ERANGE;
    if (strDest == NULL)
        return EINVAL;
    size_t used = strnlen(strDest, destMax);
    if (used == destMax) {
        strDest[0] = '\0';
        return EINVAL_AND_RESET;
    }
    return append(strDest, destMax, used, strSrc, count);
}

errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc)
{
    return strncat_s(strDest, destMax, strSrc, SIZE_MAX);
}

char *strtok_s(char *strToken, const char *strDelimit, char **context)
{
    if (strDelimit == NULL || context == NULL || (strToken == NULL && *context == NULL))
        return NULL;
    return strtok_r(strToken, strDelimit, context);
}

int vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format, va_list argList)
{
    if (strDest == NULL || destMax == 0 || destMax > SECUREC_STRING_MAX_LEN)
        return -1;
    if (format == NULL) {
        strDest[0] = '\0';
        return -1;
    }
    size_t room = count < destMax ? count + 1 : destMax;
    int length = vsnprintf(strDest, room, format, argList);
    if (length >= 0 && (size_t)length < room)
        return length;
    if (length < 0 || count >= destMax) /* otherwise the caller asked for the first `count` characters */
        strDest[0] = '\0';
    return -1;
}

int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf_s(strDest, destMax, count, format, arguments);
    va_end(arguments);
    return length;
}

int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList)
{
    return vsnprintf_s(strDest, destMax, SIZE_MAX, format, argList);
}

int sprintf_s(char *strDest, size_t destMax, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsprintf_s(strDest, destMax, format, arguments);
    va_end(arguments);
    return length;
}
