// One operator in its two phases: out = self + 2 * other, for 4 x 2 numbers.
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const std::vector<int64_t> shape{4, 2};
const std::vector<int64_t> strides{2, 1};
const size_t count = 8;

void check(int ret, const char *function)
{
    if (ret != ACL_SUCCESS) {
        const char *reason = aclGetRecentErrMsg();
        std::fprintf(stderr, "[ERROR] %s failed %d %s\n", function, ret, reason ? reason : "");
        std::exit(1);
    }
}

// A block of device memory, and a tensor in it.
struct Operand {
    explicit Operand(const std::vector<float> &values)
    {
        const size_t size = values.size() * sizeof(float);
        check(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        check(aclrtMemcpy(block, size, values.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
        tensor = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                 shape.data(), shape.size(), block);
        check(tensor != nullptr ? ACL_SUCCESS : ACL_ERROR_FAILURE, "aclCreateTensor");
    }
    ~Operand()
    {
        aclDestroyTensor(tensor);
        aclrtFree(block);
    }
    Operand(const Operand &) = delete;
    Operand &operator=(const Operand &) = delete;

    void *block = nullptr;
    aclTensor *tensor = nullptr;
};

void add(aclrtStream stream)
{
    std::vector<float> ones(count, 1), numbers(count), sums(count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = static_cast<float>(i);
    Operand self(ones), other(numbers), out(sums);
    float two = 2;
    aclScalar *alpha = aclCreateScalar(&two, ACL_FLOAT);

    uint64_t size = 0;
    void *workspace = nullptr;
    aclOpExecutor *executor = nullptr;
    check(aclnnAddGetWorkspaceSize(self.tensor, other.tensor, alpha, out.tensor, &size, &executor),
          "aclnnAddGetWorkspaceSize");
    if (size > 0)
        check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclnnAdd(workspace, size, executor, stream), "aclnnAdd");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    check(aclrtMemcpy(sums.data(), count * sizeof(float), out.block, count * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    for (float sum : sums)
        std::printf("%g ", sum);
    std::printf("\n");
    if (workspace != nullptr)
        aclrtFree(workspace);
    aclDestroyScalar(alpha);
}

} // namespace

int main()
{
    aclrtStream stream = nullptr;
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    add(stream);
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(aclrtResetDevice(0), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
}
