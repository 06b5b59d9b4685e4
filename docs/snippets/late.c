#include <acl/acl.h>
#include <stdio.h>

int main(void)
{
    aclrtStream first, second;
    unsigned char *block, *result;
    aclrtSetDevice(0);
    aclrtCreateStream(&first);
    aclrtCreateStream(&second);
    aclrtMalloc((void **)&block, 1, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMallocHost((void **)&result, 1);
    aclrtMemsetAsync(block, 1, 7, 1, first);
    aclrtMemcpyAsync(result, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST, second);
    aclrtSynchronizeStream(first);
    aclrtSynchronizeStream(second);
    printf("%d\n", *result);
    return 0;
}
