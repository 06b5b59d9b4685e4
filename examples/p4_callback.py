"""Asynchronous inference: callbacks read results and release memory while more work is queued (pyACL)."""

import argparse
import queue
import sys
import threading

import classifier

import acl

DEVICE = 0
IMAGES = 2
TIMEOUT = 20  # milliseconds after which the thread checks whether it must stop
HUGE_FIRST = 0
BLOCK = 1
HOST = 1
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3


def check(ret, function, what):
    """Print that a step succeeded, or exit with the reason why it failed."""
    require(ret, function)
    print(f"[INFO] {what} ok")


def require(ret, function):
    """Exit with the reason if a step failed; print nothing if it succeeded."""
    if ret != 0:
        sys.exit(f"[ERROR] {function} failed {ret} {acl.get_recent_err_msg()}")


class Dataset:
    """A dataset with one buffer of device memory."""

    def __init__(self, size):
        self.size = size
        self.memory, ret = acl.rt.malloc(size, HUGE_FIRST)
        require(ret, "aclrtMalloc")
        self.buffer = acl.create_data_buffer(self.memory, size)
        self.handle = acl.mdl.create_dataset()
        _, ret = acl.mdl.add_dataset_buffer(self.handle, self.buffer)
        require(ret, "aclmdlAddDatasetBuffer")

    def free(self):
        require(acl.mdl.destroy_dataset(self.handle), "aclmdlDestroyDataset")
        require(acl.destroy_data_buffer(self.buffer), "aclDestroyDataBuffer")
        require(acl.rt.free(self.memory), "aclrtFree")


def fill_pool(desc, count, kind):
    """Return a queue of pairs of an input and an output; the inputs hold the images in turn."""
    input_size, output_size = acl.mdl.get_input_size_by_index(desc, 0), acl.mdl.get_output_size_by_index(desc, 0)
    images = [classifier.image(number, input_size) for number in range(IMAGES)]
    pool = queue.Queue()
    for number in range(count):
        pair = Dataset(input_size), Dataset(output_size)
        image = acl.util.bytes_to_ptr(images[number % IMAGES])
        require(acl.rt.memcpy(pair[0].memory, input_size, image, input_size, kind), "aclrtMemcpy")
        pool.put(pair)
    return pool


def free_pool(pool):
    """Free the pairs in the pool, and return how many there were."""
    count = pool.qsize()
    for _ in range(count):
        for dataset in pool.get():
            dataset.free()
    return count


class Reader:
    """Prints results in the order in which they arrive, and returns their datasets to the pool."""

    def __init__(self, pool, kind):
        self.pool = pool
        self.kind = kind
        self.count = self.ret = 0

    def show(self, number, output):
        scores = bytes(output.size)
        ret = acl.rt.memcpy(acl.util.bytes_to_ptr(scores), output.size, output.memory, output.size, self.kind)
        self.ret = self.ret or ret
        best, score = classifier.top(scores)
        print(f"result {number} class {best} score {score:f}")
        self.count += 1

    def read(self, finished):
        try:
            for number, pair in finished:
                self.show(number, pair[1])
        finally:  # otherwise the launching thread would wait for ever
            for _, pair in finished:
                self.pool.put(pair)


def serve(task):
    """Run the callbacks of the subscribed streams, on a thread of their own, until ``stop`` is set."""
    context, stop = task
    acl.rt.set_context(context)
    while not stop.is_set():
        acl.rt.process_report(TIMEOUT)


def launch(model, stream, pool, reader, options):
    """Queue all executions and callbacks, and return the executions that no callback reads."""
    queued = []
    for number in range(options.count):
        pair = pool.get()  # waits while the pool is empty
        require(acl.mdl.execute_async(model, pair[0].handle, pair[1].handle, stream), "aclmdlExecuteAsync")
        queued.append((number, pair))
        if len(queued) == options.interval or (options.interval != 0 and number + 1 == options.count):
            require(acl.rt.launch_callback(reader.read, queued, BLOCK, stream), "aclrtLaunchCallback")
            queued = []
    return queued


def run(model, stream, context, pool, options, kind):
    """Execute the model ``options.count`` times and print all results."""
    reader, stop = Reader(pool, kind), threading.Event()
    if options.interval != 0:
        thread, ret = acl.util.start_thread(serve, (context, stop))
        check(ret, "acl.util.start_thread", "start thread")
        check(acl.rt.subscribe_report(thread, stream), "aclrtSubscribeReport", "subscribe thread")
    left = launch(model, stream, pool, reader, options)
    check(acl.rt.synchronize_stream(stream), "aclrtSynchronizeStream", "synchronize stream")
    reader.read(left)
    check(reader.ret, "aclrtMemcpy", f"read {reader.count} results")
    if options.interval != 0:
        check(acl.rt.unsubscribe_report(thread, stream), "aclrtUnSubscribeReport", "unsubscribe thread")
        stop.set()
        check(acl.util.stop_thread(thread), "acl.util.stop_thread", "join thread")


def read_options():
    """Return the options; exit if they would make the launching thread wait for ever."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interval", type=int, default=1, help="executions per callback, 0: no callbacks")
    parser.add_argument("--pool", type=int, default=100, help="pairs of an input and an output")
    parser.add_argument("--count", type=int, default=100, help="executions")
    parser.add_argument("--model", help="a model file of your own (default: write a small classifier)")
    options = parser.parse_args()
    if options.interval < 0 or options.pool < 1 or options.count < 0:
        sys.exit("[ERROR] the pool needs at least 1 pair, and no number may be negative")
    if options.pool < options.interval:
        sys.exit(f"[ERROR] a pool of {options.pool} is too small for a callback every {options.interval} executions")
    if options.interval == 0 and options.pool < options.count:
        sys.exit(f"[ERROR] a pool of {options.pool} is too small for {options.count} executions without callbacks")
    return options


def main():
    options = read_options()
    path = options.model or classifier.make()
    check(acl.init(), "aclInit", "initialize")
    check(acl.rt.set_device(DEVICE), "aclrtSetDevice", "set device")
    context, ret = acl.rt.get_context()
    check(ret, "aclrtGetCurrentContext", "the device's default context")
    stream, ret = acl.rt.create_stream()
    check(ret, "aclrtCreateStream", "stream")
    mode, ret = acl.rt.get_run_mode()
    check(ret, "aclrtGetRunMode", f"run mode {('ACL_DEVICE', 'ACL_HOST')[mode]}")
    to_device, to_host = (HOST_TO_DEVICE, DEVICE_TO_HOST) if mode == HOST else (DEVICE_TO_DEVICE, DEVICE_TO_DEVICE)

    work_size, weight_size, ret = acl.mdl.query_size(path)
    check(ret, "aclmdlQuerySize", "query size")
    work, ret = acl.rt.malloc(work_size, HUGE_FIRST)
    check(ret, "aclrtMalloc", f"work memory {work_size} bytes")
    weights, ret = acl.rt.malloc(weight_size, HUGE_FIRST)
    check(ret, "aclrtMalloc", f"weight memory {weight_size} bytes")
    model, ret = acl.mdl.load_from_file_with_mem(path, work, work_size, weights, weight_size)
    check(ret, "aclmdlLoadFromFileWithMem", "load model")
    desc = acl.mdl.create_desc()
    check(acl.mdl.get_desc(desc, model), "aclmdlGetDesc", "describe model")
    pool = fill_pool(desc, options.pool, to_device)
    print(f"[INFO] pool of {options.pool} inputs and outputs ok")

    run(model, stream, context, pool, options, to_host)

    print(f"[INFO] free {free_pool(pool)} inputs and outputs ok")
    check(acl.mdl.unload(model), "aclmdlUnload", "unload model")
    check(acl.mdl.destroy_desc(desc), "aclmdlDestroyDesc", "destroy description")
    check(acl.rt.free(work), "aclrtFree", "free work memory")
    check(acl.rt.free(weights), "aclrtFree", "free weight memory")
    check(acl.rt.destroy_stream(stream), "aclrtDestroyStream", "destroy stream")
    check(acl.rt.reset_device(DEVICE), "aclrtResetDevice", "reset device")
    check(acl.finalize(), "aclFinalize", "finalize")


if __name__ == "__main__":
    main()
