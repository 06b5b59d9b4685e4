#include <acl/acl.h>
#include <stdio.h>

int main(void)
{
    void *block;
    aclError ret = aclrtSetDevice(0);
    if (ret == ACL_SUCCESS)
        ret = aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    if (ret == ACL_SUCCESS)
        ret = aclrtMemset(block, 64, 0, 100);
    printf("%d %s\n", ret, aclGetRecentErrMsg());
    return aclrtResetDevice(0);
}
