"""The small classifier that the inference examples execute. ``python3 classifier.py [FILE]`` writes its model file.

An image of 1x3x224x224 floats is averaged over squares of 32x32 pixels, and a matrix turns the 147 means into 1000
scores. The numbers are chosen so that no sum is rounded: each order of additions gives the same result, also in
classifier.h.
"""

import sys

import numpy

import acl
from acl.sim import om

PATH = "classifier.om"
CHANNELS, SIDE, SQUARE, CLASSES = 3, 224, 32, 1000
SQUARES = SIDE // SQUARE
FEATURES = CHANNELS * SQUARES * SQUARES
PRIME = 1009
NCHW = 0

numbers = numpy.arange(1, FEATURES + 1) ** 2
WEIGHTS = (numpy.outer(numbers, numpy.arange(1, CLASSES + 1)) % PRIME % 5 - 2).astype("f4")


def classify(image):
    """Return the scores of an image. The simulator calls this function to execute the model."""
    squares = image.reshape(CHANNELS, SQUARES, SQUARE, SQUARES, SQUARE)
    return squares.mean(axis=(2, 4)).reshape(1, FEATURES) @ WEIGHTS


def write(path):
    """Write the model file: inputs, outputs and weights, but no kernels for a card."""
    image = om.Tensor("image", (1, CHANNELS, SIDE, SIDE), format=NCHW)
    scores = om.Tensor("scores", (1, CLASSES))
    with open(path, "wb") as file:
        file.write(om.write("classifier", [image], [scores], weights=WEIGHTS.tobytes(), work=WEIGHTS[:, 0].nbytes))


def make():
    """Write the model file, register ``classify`` with the simulator, and return the path."""
    write(PATH)
    if acl.is_simulator:
        acl.sim.model("classifier")(classify)
    return PATH


def image(number, size):
    """Return the bytes of an image: stripes whose width depends on the number."""
    return (numpy.arange(size // 4) // (3001 + 1998 * number) % 16).astype("f4").tobytes()


def top(scores):
    """Return the class with the highest score, and the score."""
    scores = numpy.frombuffer(scores, "f4")
    best = int(scores.argmax())
    return best, scores[best]


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else PATH)
