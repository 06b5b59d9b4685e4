/* Copies to the device, within the device, and back to the host. */
#include <acl/acl.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        aclError code = (call);                                                                                        \
        if (code != ACL_SUCCESS) {                                                                                     \
            fprintf(stderr, "%s returned %d\n%s\n", #call, code, aclGetRecentErrMsg());                                \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void)
{
    const char text[] = "there and back";
    char back[sizeof text] = "";
    void *first = NULL, *second = NULL;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMalloc(&first, sizeof text, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&second, sizeof text, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(first, sizeof text, text, sizeof text, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(second, sizeof text, first, sizeof text, ACL_MEMCPY_DEVICE_TO_DEVICE));
    CHECK(aclrtMemcpy(back, sizeof back, second, sizeof text, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%s\n", back);
    CHECK(aclrtFree(second));
    CHECK(aclrtFree(first));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return strcmp(back, text) != 0;
}
