"""Model inference, synchronous and on a stream, with memory of the system and of the program (objects)."""

import sys

import classifier
import numpy

import acl


def say(*what):
    print(*(f"[INFO] {line} ok" for line in what), sep="\n")


def infer(model, whose, number, stream):
    say(f"load model with the {whose}'s memory", "describe model")
    sides = [("input", model.inputs[0]), ("output", model.outputs[0])]
    say(*(f"{side} 0 {t.name} {'x'.join(map(str, t.shape))} {t.dtype} {t.size} bytes" for side, t in sides))
    image, scores = (acl.DeviceArray(tensor.shape, tensor.dtype) for _, tensor in sides)
    say("destroy description", f"memory of input 0 {image.handle:#x}, {image.nbytes} bytes", "add input 0")
    say(f"memory of output 0 {scores.handle:#x}, {scores.nbytes} bytes", "add output 0")
    image.copy_from(numpy.frombuffer(classifier.image(number, image.nbytes), image.dtype).reshape(image.shape))
    say(f"copy image {number} to the device")
    steps = ["run at once"], ["run on the stream, queued", "synchronize stream"]
    for manner, on, done in zip(("at once", "on the stream"), (None, stream), steps):
        model(image, out=scores, stream=on)
        best, score = classifier.top(scores.to_numpy())  # waits for the queued execution
        say(*done, "copy scores to the host")
        print(f"{manner}: class {best} score {score:f}")
        scores.fill(0)
        say("clear scores")
    model.close()
    say("unload model", "free memory of input 0", "destroy buffer of input 0", "destroy inputs")
    say("free memory of output 0", "destroy buffer of output 0", "destroy outputs")


path = sys.argv[1] if len(sys.argv) > 1 else classifier.make()
with acl.Device(0), acl.Stream() as stream:
    need = acl.Model.memory_of(path)
    say("initialize", "set device", "stream", "the model needs {} bytes to work and {} bytes for weights".format(*need))
    infer(acl.Model(path), "system", 0, stream)
    work, weights = (acl.DeviceArray(size, "u1") for size in need)
    say(*(f"{what} memory {a.handle:#x}, {a.nbytes} bytes" for what, a in [("work", work), ("weight", weights)]))
    infer(acl.Model(path, work=work, weights=weights), "program", 1, stream)
say("free work memory", "free weight memory", "destroy stream", "reset device", "finalize")
