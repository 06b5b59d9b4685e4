/* The runtime below AscendCL, libruntime.so: the names that programs link with; all functions refuse the call. */

typedef int32_t rtError_t;

typedef struct rtDevBinary {
    uint32_t magic;
    uint32_t version;
    const void *data;
    uint64_t length;
} rtDevBinary_t;

typedef struct rtSmDesc rtSmDesc_t;

ACL_API(8, 1) rtError_t rtDevBinaryRegister(const rtDevBinary_t *bin, void **handle);
ACL_API(8, 1) rtError_t rtFunctionRegister(void *binHandle, const void *stubFunc, const char *stubName,
    const void *kernelInfoExt, uint32_t funcMode);
ACL_API(8, 1) rtError_t rtKernelLaunch(const void *stubFunc, uint32_t blockDim, void *args, uint32_t argsSize,
    rtSmDesc_t *smDesc, aclrtStream stream);
ACL_API(8, 1) rtError_t rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *len);
