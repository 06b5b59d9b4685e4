#include <acl/acl.h>
#include <stdio.h>

int main(void)
{
    void *block;
    aclrtStream one, other;
    int wrong = aclrtSetDevice(0) | aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST);
    wrong |= aclrtCreateStream(&one) | aclrtCreateStream(&other);
    wrong |= aclrtMemsetAsync(block, 1 << 20, 1, 1 << 20, one);
    wrong |= aclrtMemsetAsync(block, 1 << 20, 2, 1 << 20, other);
    wrong |= aclrtSynchronizeDevice();
    printf("%d\n", wrong);
    return aclrtResetDevice(0);
}
