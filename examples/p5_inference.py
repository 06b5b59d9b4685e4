"""Model inference, synchronous and on a stream, with memory of the system and of the program (pyACL)."""

import argparse
import sys

import classifier

import acl

DEVICE = 0
HUGE_FIRST = 0
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
TYPES = {0: "float32", 1: "float16", 2: "int8", 3: "int32", 4: "uint8", 9: "int64"}


def check(ret, function, what):
    """Print that a step succeeded, or exit with the reason why it failed."""
    if ret != 0:
        sys.exit(f"[ERROR] {function} failed {ret} {acl.get_recent_err_msg()}")
    print(f"[INFO] {what} ok")


def take(size, what):
    """Allocate device memory."""
    device, ret = acl.rt.malloc(size, HUGE_FIRST)
    check(ret, "aclrtMalloc", f"{what} {device:#x}, {size} bytes")
    return device


def text_of(dims, kind, size):
    """Return the name, shape, type and size of a tensor as text."""
    return f"{dims['name']} {'x'.join(map(str, dims['dims']))} {TYPES.get(kind, 'another type')} {size} bytes"


def describe(model):
    """Print the inputs and outputs of the model, and return their sizes."""
    mdl = acl.mdl
    desc = mdl.create_desc()
    check(mdl.get_desc(desc, model), "aclmdlGetDesc", "describe model")
    inputs, outputs = [], []
    for index in range(mdl.get_num_inputs(desc)):
        dims, ret = mdl.get_input_dims(desc, index)
        kind, size = mdl.get_input_data_type(desc, index), mdl.get_input_size_by_index(desc, index)
        check(ret, "aclmdlGetInputDims", f"input {index} {text_of(dims, kind, size)}")
        inputs.append(size)
    for index in range(mdl.get_num_outputs(desc)):
        dims, ret = mdl.get_output_dims(desc, index)
        kind, size = mdl.get_output_data_type(desc, index), mdl.get_output_size_by_index(desc, index)
        check(ret, "aclmdlGetOutputDims", f"output {index} {text_of(dims, kind, size)}")
        outputs.append(size)
    check(mdl.destroy_desc(desc), "aclmdlDestroyDesc", "destroy description")
    return inputs, outputs


def make_dataset(sizes, name):
    """Return a dataset with a buffer of device memory for each size."""
    dataset = acl.mdl.create_dataset()
    for index, size in enumerate(sizes):
        buffer = acl.create_data_buffer(take(size, f"memory of {name} {index}"), size)
        _, ret = acl.mdl.add_dataset_buffer(dataset, buffer)
        check(ret, "aclmdlAddDatasetBuffer", f"add {name} {index}")
    return dataset


def first_of(dataset):
    """Return address and size of the first buffer."""
    buffer = acl.mdl.get_dataset_buffer(dataset, 0)
    return acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)


def free_dataset(dataset, name):
    """Free a dataset, its buffers and their memory."""
    for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, index)
        check(acl.rt.free(acl.get_data_buffer_addr(buffer)), "aclrtFree", f"free memory of {name} {index}")
        check(acl.destroy_data_buffer(buffer), "aclDestroyDataBuffer", f"destroy buffer of {name} {index}")
    check(acl.mdl.destroy_dataset(dataset), "aclmdlDestroyDataset", f"destroy {name}s")


def show(outputs, manner):
    """Print the class with the highest score, and clear the scores for the next execution."""
    device, size = first_of(outputs)
    scores = bytes(size)
    ret = acl.rt.memcpy(acl.util.bytes_to_ptr(scores), size, device, size, DEVICE_TO_HOST)
    check(ret, "aclrtMemcpy", "copy scores to the host")
    best, score = classifier.top(scores)
    print(f"{manner}: class {best} score {score:f}")
    check(acl.rt.memset(device, size, 0, size), "aclrtMemset", "clear scores")


def infer(model, number, stream):
    """Execute a model on one image in both ways, and unload it."""
    input_sizes, output_sizes = describe(model)
    inputs, outputs = make_dataset(input_sizes, "input"), make_dataset(output_sizes, "output")
    device, size = first_of(inputs)
    image = classifier.image(number, size)
    ret = acl.rt.memcpy(device, size, acl.util.bytes_to_ptr(image), size, HOST_TO_DEVICE)
    check(ret, "aclrtMemcpy", f"copy image {number} to the device")

    check(acl.mdl.execute(model, inputs, outputs), "aclmdlExecute", "run at once")
    show(outputs, "at once")
    check(acl.mdl.execute_async(model, inputs, outputs, stream), "aclmdlExecuteAsync", "run on the stream, queued")
    check(acl.rt.synchronize_stream(stream), "aclrtSynchronizeStream", "synchronize stream")
    show(outputs, "on the stream")

    check(acl.mdl.unload(model), "aclmdlUnload", "unload model")
    free_dataset(inputs, "input")
    free_dataset(outputs, "output")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", help="a model file of your own (default: write a small classifier)")
    path = parser.parse_args().model or classifier.make()
    check(acl.init(), "aclInit", "initialize")
    check(acl.rt.set_device(DEVICE), "aclrtSetDevice", "set device")
    stream, ret = acl.rt.create_stream()
    check(ret, "aclrtCreateStream", "stream")
    work_size, weight_size, ret = acl.mdl.query_size(path)
    check(ret, "aclmdlQuerySize", f"the model needs {work_size} bytes to work and {weight_size} bytes for weights")

    model, ret = acl.mdl.load_from_file(path)
    check(ret, "aclmdlLoadFromFile", "load model with the system's memory")
    infer(model, 0, stream)

    work, weights = take(work_size, "work memory"), take(weight_size, "weight memory")
    model, ret = acl.mdl.load_from_file_with_mem(path, work, work_size, weights, weight_size)
    check(ret, "aclmdlLoadFromFileWithMem", "load model with the program's memory")
    infer(model, 1, stream)
    check(acl.rt.free(work), "aclrtFree", "free work memory")
    check(acl.rt.free(weights), "aclrtFree", "free weight memory")

    check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", "destroy stream")
    check(acl.rt.reset_device(DEVICE), "aclrtResetDevice", "reset device")
    check(acl.finalize(), "aclFinalize", "finalize")


if __name__ == "__main__":
    main()
