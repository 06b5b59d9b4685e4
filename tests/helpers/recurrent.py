"""Recurrent layers and networks in NumPy, as float64, and checks of their gradients."""

import numpy

LSTM, GRU = "ifjo", "rzh"  # the gates in the order of the rows of a weight, as PyTorch has them


def sigmoid(x):
    """Return the logistic function of numbers."""
    return 1 / (1 + numpy.exp(-x))


def lstm(x, weights, biases, h, c, order=LSTM, forget_bias=0.0, runs=None):
    """Return y, h, c, i, j, f, o and tanhc of a layer for each time.

    The columns of both weights are those of the gates. ``runs`` has 0 for the times at which a sequence is over.
    """
    steps = []
    for time, step in enumerate(x):
        gates = step @ weights[0] + biases[0] + h @ weights[1] + biases[1]
        sums = dict(zip(order, numpy.split(gates, 4, 1)))
        i, f, o = sigmoid(sums["i"]), sigmoid(sums["f"] + forget_bias), sigmoid(sums["o"])
        j = numpy.tanh(sums["j"])
        more = numpy.ones((len(h), 1)) if runs is None else runs[time][:, None]
        c = numpy.where(more, f * c + i * j, c)
        h = numpy.where(more, o * numpy.tanh(c), h)
        steps.append([h * more, h, c, i * more, j * more, f * more, o * more, numpy.tanh(c) * more])
    return [numpy.stack(one) for one in zip(*steps)]


def gru(x, weights, biases, h, order=GRU):
    """Return y, h, update, reset, new and hidden_new of a layer for each time."""
    steps = []
    for step in x:
        ours, theirs = (
            dict(zip(order, numpy.split(row @ weight + bias, 3, 1)))
            for row, weight, bias in zip((step, h), weights, biases)
        )
        update, reset = sigmoid(ours["z"] + theirs["z"]), sigmoid(ours["r"] + theirs["r"])
        new = numpy.tanh(ours["h"] + reset * theirs["h"])
        h = (1 - update) * new + update * h
        steps.append([h, h, update, reset, new, theirs["h"]])
    return [numpy.stack(one) for one in zip(*steps)]


def network(x, params, states, ways, biases=True, runs=None):
    """Return the output, the last states, and what each layer and direction saves: an LSTM has two states, a GRU one.

    ``params`` are in PyTorch's order; ``states`` have the layers and directions first.
    """
    per, last, saved = 4 if biases else 2, [], []
    for first in range(0, len(params) // per, ways):
        outs = []
        for part in range(first, first + ways):
            turn = slice(None, None, -1 if part > first else 1)
            own = params[part * per : (part + 1) * per]
            no_bias = numpy.zeros(len(own[0]))
            given = [own[0].T, own[1].T], own[2:] or [no_bias, no_bias], *(state[part] for state in states)
            if len(states) == 2:
                found = lstm(x[turn], *given, runs=None if runs is None else runs[turn])
            else:
                found = gru(x[turn], *given)
            last.append([one[-1] for one in found[1 : 1 + len(states)]])
            saved.append([one[turn] for one in found[1:]])
            outs.append(found[0][turn])
        x = numpy.concatenate(outs, 2)
    return [x, *(numpy.stack(one) for one in zip(*last))], saved


def check_gradients(function, arrays, gradients, found, tolerance):
    """Assert the gradients of arrays, from those of the outputs of a function of them, along random directions."""
    generator, step = numpy.random.default_rng(0), 1e-5

    def total():
        return sum(numpy.vdot(one, gradient) for one, gradient in zip(function(*arrays), gradients))

    for array, gradient in zip(arrays, found):
        kept = array.copy()
        assert gradient.shape == array.shape
        for _ in range(3):
            along = generator.uniform(-1, 1, array.shape)
            array[...] = kept + step * along
            above = total()
            array[...] = kept - step * along
            slope = (above - total()) / (2 * step)
            array[...] = kept
            limit = tolerance * (1 + numpy.abs(gradient * along).sum())
            assert abs(numpy.vdot(gradient, along) - slope) <= limit
