/* Model inference, synchronous and on a stream, with memory of the system and of the program: p5_inference [MODEL] */
#include "classifier.h"
#include <acl/acl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE 0
#define SIDES_MAX 8 /* most inputs, and most outputs, of a model */

struct sizes {
    size_t inputs[SIDES_MAX], outputs[SIDES_MAX];
    size_t input_count, output_count;
};

/* Prints that a step succeeded, or exits with the reason why it failed. */
static void check(aclError ret, const char *function, const char *what, ...)
{
    va_list values;
    if (ret != ACL_SUCCESS) {
        fprintf(stderr, "[ERROR] %s failed %d %s\n", function, ret, aclGetRecentErrMsg());
        exit(1);
    }
    va_start(values, what);
    printf("[INFO] ");
    vprintf(what, values);
    printf(" ok\n");
    va_end(values);
}

static void *take(size_t size, const char *what)
{
    void *device;
    aclError ret = aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST);
    check(ret, "aclrtMalloc", "%s %p, %zu bytes", what, device, size);
    return device;
}

static const char *name_of(aclDataType type)
{
    switch (type) {
    case ACL_FLOAT:
        return "float32";
    case ACL_FLOAT16:
        return "float16";
    case ACL_INT8:
        return "int8";
    case ACL_INT32:
        return "int32";
    case ACL_UINT8:
        return "uint8";
    case ACL_INT64:
        return "int64";
    default:
        return "another type";
    }
}

static const char *shape_of(const aclmdlIODims *dims)
{
    static char text[256];
    int length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < dims->dimCount && length < (int)sizeof text - 32; i++)
        length += snprintf(text + length, 32, i == 0 ? "%lld" : "x%lld", (long long)dims->dims[i]);
    return text;
}

/* Prints the inputs and outputs of the model, and returns their sizes. */
static struct sizes describe(uint32_t model)
{
    struct sizes sizes;
    aclmdlIODims dims;
    aclmdlDesc *desc = aclmdlCreateDesc();
    check(aclmdlGetDesc(desc, model), "aclmdlGetDesc", "describe model");
    sizes.input_count = aclmdlGetNumInputs(desc);
    sizes.output_count = aclmdlGetNumOutputs(desc);
    if (sizes.input_count > SIDES_MAX || sizes.output_count > SIDES_MAX) {
        fprintf(stderr, "[ERROR] the model has more than %d inputs or outputs\n", SIDES_MAX);
        exit(1);
    }
    for (size_t i = 0; i < sizes.input_count; i++) {
        aclError ret = aclmdlGetInputDims(desc, i, &dims);
        sizes.inputs[i] = aclmdlGetInputSizeByIndex(desc, i);
        check(ret, "aclmdlGetInputDims", "input %zu %s %s %s %zu bytes", i, dims.name, shape_of(&dims),
              name_of(aclmdlGetInputDataType(desc, i)), sizes.inputs[i]);
    }
    for (size_t i = 0; i < sizes.output_count; i++) {
        aclError ret = aclmdlGetOutputDims(desc, i, &dims);
        sizes.outputs[i] = aclmdlGetOutputSizeByIndex(desc, i);
        check(ret, "aclmdlGetOutputDims", "output %zu %s %s %s %zu bytes", i, dims.name, shape_of(&dims),
              name_of(aclmdlGetOutputDataType(desc, i)), sizes.outputs[i]);
    }
    check(aclmdlDestroyDesc(desc), "aclmdlDestroyDesc", "destroy description");
    return sizes;
}

/* Returns a dataset with a buffer of device memory for each size. */
static aclmdlDataset *make_dataset(const size_t *sizes, size_t count, const char *name)
{
    char what[64];
    aclmdlDataset *dataset = aclmdlCreateDataset();
    for (size_t i = 0; i < count; i++) {
        snprintf(what, sizeof what, "memory of %s %zu", name, i);
        aclDataBuffer *buffer = aclCreateDataBuffer(take(sizes[i], what), sizes[i]);
        check(aclmdlAddDatasetBuffer(dataset, buffer), "aclmdlAddDatasetBuffer", "add %s %zu", name, i);
    }
    return dataset;
}

/* Frees a dataset, its buffers and their memory. */
static void free_dataset(aclmdlDataset *dataset, const char *name)
{
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); i++) {
        aclDataBuffer *buffer = aclmdlGetDatasetBuffer(dataset, i);
        check(aclrtFree(aclGetDataBufferAddr(buffer)), "aclrtFree", "free memory of %s %zu", name, i);
        check(aclDestroyDataBuffer(buffer), "aclDestroyDataBuffer", "destroy buffer of %s %zu", name, i);
    }
    check(aclmdlDestroyDataset(dataset), "aclmdlDestroyDataset", "destroy %ss", name);
}

/* Prints the class with the highest score, and clears the scores for the next execution. */
static void show(aclmdlDataset *outputs, size_t size, const char *manner)
{
    void *device = aclGetDataBufferAddr(aclmdlGetDatasetBuffer(outputs, 0));
    float *scores = (float *)malloc(size);
    aclError ret = aclrtMemcpy(scores, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST);
    check(ret, "aclrtMemcpy", "copy scores to the host");
    size_t best = top_class(scores, size);
    printf("%s: class %zu score %f\n", manner, best, scores[best]);
    check(aclrtMemset(device, size, 0, size), "aclrtMemset", "clear scores");
    free(scores);
}

/* Executes a model on one image in both ways, and unloads it. */
static void infer(uint32_t model, int number, aclrtStream stream)
{
    struct sizes sizes = describe(model);
    aclmdlDataset *inputs = make_dataset(sizes.inputs, sizes.input_count, "input");
    aclmdlDataset *outputs = make_dataset(sizes.outputs, sizes.output_count, "output");
    size_t size = sizes.inputs[0];
    float *image = (float *)malloc(size);
    make_image(number, image, size);
    aclError ret = aclrtMemcpy(aclGetDataBufferAddr(aclmdlGetDatasetBuffer(inputs, 0)), size, image, size,
                               ACL_MEMCPY_HOST_TO_DEVICE);
    check(ret, "aclrtMemcpy", "copy image %d to the device", number);
    free(image);

    check(aclmdlExecute(model, inputs, outputs), "aclmdlExecute", "run at once");
    show(outputs, sizes.outputs[0], "at once");
    check(aclmdlExecuteAsync(model, inputs, outputs, stream), "aclmdlExecuteAsync", "run on the stream, queued");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream", "synchronize stream");
    show(outputs, sizes.outputs[0], "on the stream");

    check(aclmdlUnload(model), "aclmdlUnload", "unload model");
    free_dataset(inputs, "input");
    free_dataset(outputs, "output");
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "classifier.om";
    size_t work_size, weight_size;
    uint32_t model;
    aclrtStream stream;

    make_classifier();
    check(aclInit(NULL), "aclInit", "initialize");
    check(aclrtSetDevice(DEVICE), "aclrtSetDevice", "set device");
    check(aclrtCreateStream(&stream), "aclrtCreateStream", "stream");
    aclError ret = aclmdlQuerySize(path, &work_size, &weight_size);
    check(ret, "aclmdlQuerySize", "the model needs %zu bytes to work and %zu bytes for weights", work_size,
          weight_size);

    ret = aclmdlLoadFromFile(path, &model);
    check(ret, "aclmdlLoadFromFile", "load model with the system's memory");
    infer(model, 0, stream);

    void *work = take(work_size, "work memory"), *weights = take(weight_size, "weight memory");
    ret = aclmdlLoadFromFileWithMem(path, &model, work, work_size, weights, weight_size);
    check(ret, "aclmdlLoadFromFileWithMem", "load model with the program's memory");
    infer(model, 1, stream);
    check(aclrtFree(work), "aclrtFree", "free work memory");
    check(aclrtFree(weights), "aclrtFree", "free weight memory");

    check(aclrtDestroyStream(stream), "aclrtDestroyStream", "destroy stream");
    check(aclrtResetDevice(DEVICE), "aclrtResetDevice", "reset device");
    check(aclFinalize(), "aclFinalize", "finalize");
    return 0;
}
