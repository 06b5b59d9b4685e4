"""Asynchronous inference: callbacks read results and release memory while more work is queued (objects)."""

import argparse
import sys

import classifier
import numpy

import acl


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


def read(runs):
    """Print the results of executions in order. This is the callback; it runs on the model's thread."""
    for number, run in runs:
        best, score = classifier.top(run.result())
        print(f"result {number} class {best} score {score:f}")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--interval", type=int, default=1, help="executions per callback, 0: no callbacks")
parser.add_argument("--pool", type=int, default=100, help="executions in flight")
parser.add_argument("--count", type=int, default=100, help="executions")
parser.add_argument("--model", help="a model file of your own (default: write a small classifier)")
options = parser.parse_args()
interval, pool, count = options.interval, options.pool, options.count
if interval < 0 or pool < 1 or count < 0:
    sys.exit("[ERROR] the pool needs at least 1 pair, and no number may be negative")
if pool < (interval or count):
    what = f"a callback every {interval} executions" if interval else f"{count} executions without callbacks"
    sys.exit(f"[ERROR] a pool of {pool} is too small for {what}")
path = options.model or classifier.make()
with acl.Device(0):
    need, mode = acl.Model.memory_of(path), ("ACL_DEVICE", "ACL_HOST")[acl.rt.get_run_mode()[0]]
    say("initialize", "set device", "the device's default context", "stream", f"run mode {mode}", "query size")
    work, weights = (acl.Buffer(size) for size in need)
    say(f"work memory {need.work} bytes", f"weight memory {need.weights} bytes")
    with work, weights, acl.Model(path, work=work, weights=weights, depth=pool) as model:
        shape, size = model.inputs[0].shape, model.inputs[0].size
        images = [numpy.frombuffer(classifier.image(number, size), "f4").reshape(shape) for number in range(2)]
        say("load model", "describe model", f"pool of {pool} inputs and outputs")
        if interval:
            say("start thread", "subscribe thread")
        queued = []
        for number in range(count):
            queued.append((number, model.submit(images[number % pool % 2])))  # waits while the whole pool is in flight
            if interval and (len(queued) == interval or number + 1 == count):
                queued[-1][1].add_done_callback(lambda run, done=queued: read(done))
                queued = []
    # Closing the model has waited for its executions and callbacks.
    read(queued)
    say("synchronize stream", f"read {count} results", *["unsubscribe thread", "join thread"] * bool(interval))
    say(f"free {pool} inputs and outputs", "unload model", "destroy description", "free work memory")
say("free weight memory", "destroy stream", "reset device", "finalize")
