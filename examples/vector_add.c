/* A custom kernel for the simulator: z = x + y, block by block. As a shared library it replaces the binary of the same
 * name that the vendor's compiler makes for a card:
 *
 *     gcc -shared -fPIC vector_add.c -o vector_add.o $(python -m acl config --cflags --libs) */
#include <acl/acl.h>
#include <acl/acl_sim.h>
#include <string.h>

struct arguments {
    void *x, *y, *z;
    uint64_t count;
};

static struct arguments arguments_of(const aclsimKernelLaunch *launch)
{
    struct arguments args;
    memcpy(&args, launch->args, sizeof args);
    return args;
}

static aclError add(const aclsimKernelLaunch *launch)
{
    struct arguments args = arguments_of(launch);
    const float *x = aclsimReach(args.x, args.count * sizeof *x), *y = aclsimReach(args.y, args.count * sizeof *y);
    float *z = aclsimReach(args.z, args.count * sizeof *z);
    if (x == NULL || y == NULL || z == NULL) {
        aclsimSetReason("an array does not lie in device memory");
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    for (uint64_t i = launch->blockIndex; i < args.count; i += launch->numBlocks)
        z[i] = x[i] + y[i];
    return ACL_SUCCESS;
}

/* Lists the memory that a launch uses, so that memory that is freed too early is detected. */
static size_t touch(const aclsimKernelLaunch *launch, aclsimRange *ranges, size_t room)
{
    struct arguments args = arguments_of(launch);
    size_t size = args.count * sizeof(float);
    const aclsimRange touched[] = {{args.x, size, 0}, {args.y, size, 0}, {args.z, size, 1}};
    memcpy(ranges, touched, (room < 3 ? room : 3) * sizeof *ranges);
    return 3;
}

static const size_t parameters[] = {sizeof(void *), sizeof(void *), sizeof(void *), sizeof(uint64_t)};

extern const aclsimCustomKernel aclsim_kernel_vector_add;
const aclsimCustomKernel aclsim_kernel_vector_add = {
    .run = add, .touch = touch, .parameters = parameters, .parameterCount = 4};

/* The host function that the vendor's compiler would generate, for programs that are linked with it. */
aclError aclrtlaunch_vector_add(uint32_t blocks, aclrtStream stream, void *x, void *y, void *z, uint64_t count);
aclError aclrtlaunch_vector_add(uint32_t blocks, aclrtStream stream, void *x, void *y, void *z, uint64_t count)
{
    struct arguments args = {x, y, z, count};
    return aclsimLaunchKernel("vector_add", &aclsim_kernel_vector_add, blocks, &args, sizeof args, stream);
}
