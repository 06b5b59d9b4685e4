#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    void *block;
    char *host = malloc(64);
    int wrong = aclrtSetDevice(0) | aclrtMalloc(&block, 128, ACL_MEM_MALLOC_HUGE_FIRST);
    wrong |= aclrtMemset(block, 128, 7, 128);
    wrong |= aclrtMemcpy(host, 128, block, 128, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("%d %d\n", wrong, host[0]);
    free(host);
    return aclrtResetDevice(0);
}
