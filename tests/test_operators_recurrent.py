"""Recurrent networks against NumPy: LSTM and GRU with several layers, both directions, and their gradients."""

import itertools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, blank, exact, stored
from helpers.recurrent import check_gradients, network, sigmoid

import acl

TIME, BATCH, INPUT, HIDDEN = 3, 2, 3, 2
KINDS = ["f4", "f2"]
TOLERANCE = {"f4": 1e-5, "f2": 4e-3}
GATES = {"lstm": 4, "gru": 3}
# What is saved, in the order of the lists, among what helpers.recurrent.network saves.
SAVED = {"lstm": [2, 3, 4, 5, 0, 1, 6], "gru": [2, 1, 3, 4, 0]}
FORMS = [(1, 1, False, True), (2, 1, True, True), (1, 2, False, False), (2, 2, True, True)]


def drawn(seed, *shape):
    """Return random numbers that float16 has exactly, as float64."""
    return numpy.random.default_rng(seed).uniform(-1, 1, shape).astype("f2").astype("f8")


def params_of(cell, layers, ways, biases):
    """Return the parameters of each layer and direction: the weights, then the biases."""
    rows, found = GATES[cell] * HIDDEN, []
    for layer, way in itertools.product(range(layers), range(ways)):
        shapes = [(rows, ways * HIDDEN if layer else INPUT), (rows, HIDDEN), (rows,), (rows,)]
        found += [drawn((layer, way, i), *shape) for i, shape in enumerate(shapes[: 4 if biases else 2])]
    return found


class Case:
    """A network with its input and states, in NumPy and as tensors."""

    def __init__(self, npu, cell, layers=1, ways=1, first=False, biases=True, kind="f4", runs=None):
        self.npu, self.cell, self.kind, self.form = npu, cell, kind, (layers, ways, first, biases)
        self.x, self.runs = drawn(1, TIME, BATCH, INPUT), runs
        self.params = params_of(cell, layers, ways, biases)
        self.states = [drawn(2 + i, layers * ways, BATCH, HIDDEN) for i in range(2 if cell == "lstm" else 1)]
        self.sizes = 0 if runs is None else npu.tensor(runs.sum(1).astype("i8"))

    def outputs(self, x, *rest):
        """Return the output and the last states."""
        params, states = rest[: len(self.params)], rest[len(self.params) :]
        return network(x, params, states, self.form[1], self.form[3], self.runs)[0]

    def give(self, array):
        """Return a tensor over an array; its dimensions are exchanged in memory."""
        base = numpy.ascontiguousarray(stored(array, self.kind).T)
        return self.npu.view(base, base.T, self.kind)

    def give_all(self, arrays):
        """Return a list of tensors over arrays."""
        return self.npu.list([self.give(one) for one in arrays])

    def timed(self, array):
        """Return an array with times as the operators take it, or back."""
        if self.runs is not None:
            return array.reshape(-1, array.shape[-1])
        return array.swapaxes(0, 1) if self.form[2] else array

    def take(self, arrays):
        """Return tensors of zeros with the shapes of arrays."""
        return [blank(self.npu, self.kind, one.shape) for one in arrays]

    def first(self):
        """Return the states as the operators take them."""
        given = [self.give(one) for one in self.states]
        return self.npu.list(given) if self.cell == "lstm" else given[0]

    def check(self, tensors, expected):
        """Assert the values of tensors."""
        for tensor, wanted in zip(tensors, expected):
            found = exact(self.npu.get(tensor), self.kind)
            limit = TOLERANCE[self.kind]
            numpy.testing.assert_allclose(found, wanted, rtol=limit, atol=limit * max(1, numpy.abs(wanted).max()))

    def run(self, train=True, with_states=True, lists=True):
        """Run the forward operator and check what it writes."""
        layers, ways, first, biases = self.form
        states = self.states if with_states else [numpy.zeros_like(one) for one in self.states]
        expected, saved = network(self.x, self.params, states, ways, biases, self.runs)
        expected[0] = expected[0] if self.runs is not None else self.timed(expected[0])
        outs = self.take(expected)
        lists = [self.take(part[place] for part in saved) for place in SAVED[self.cell]] if lists else []
        assert 0 == self.npu.call(
            self.cell, self.give(self.timed(self.x)), self.give_all(self.params), self.first() if with_states else 0,
            self.sizes, biases, layers, 0.0, train, ways == 2, first, *outs,
            *([self.npu.list(one) for one in lists] or [0] * len(SAVED[self.cell])),
        ), acl.get_recent_err_msg()  # fmt: skip
        self.check(outs, expected)
        for place, tensors in zip(SAVED[self.cell], lists):
            self.check(tensors, [part[place] * train for part in saved])

    def back(self, absent=()):
        """Run the backward operator and check what it writes; some gradients of the outputs may be absent."""
        layers, ways, first, biases = self.form
        outputs, saved = network(self.x, self.params, self.states, ways, biases, self.runs)
        gradients = [drawn(9 + i, *one.shape) * (i not in absent) for i, one in enumerate(outputs)]
        arrays = [self.x, *self.params, *self.states]
        x, *rest = self.take([self.timed(self.x), *arrays[1:]])
        params, states = rest[: len(self.params)], rest[len(self.params) :]
        given = [self.timed(gradients[0]), *gradients[1:]]
        given = [0 if i in absent else self.give(one) for i, one in enumerate(given)]
        lists = [self.give_all([part[place] for part in saved]) for place in SAVED[self.cell]]
        inputs = [self.give(self.timed(self.x)), self.give_all(self.params), self.first()]
        if self.cell == "lstm":
            inputs = [inputs[0], inputs[2], inputs[1]]
            more = [0.0, True, ways == 2, first, 0]
        else:
            more = [ways == 2, first]
        ret = self.npu.call(
            f"{self.cell}_backward", *inputs, *given, *lists, self.sizes, biases, layers, *more, x, *states,
            self.npu.list(params),
        )  # fmt: skip
        assert ret == 0, acl.get_recent_err_msg()
        found = [exact(self.npu.get(one), self.kind) for one in [x, *rest]]
        found[0] = self.timed(found[0]).reshape(self.x.shape)
        check_gradients(self.outputs, arrays, gradients, found, TOLERANCE[self.kind])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", ["lstm", "gru"])
class TestForms:
    """Layers, directions, whether the batch is first, and biases."""

    def test_forward(self, cell, kind, form, npu):
        Case(npu, cell, *form, kind).run()

    def test_gradients(self, cell, kind, form, npu):
        Case(npu, cell, *form, kind).back()


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_without_states_and_without_saving(cell, npu):
    Case(npu, cell, 2, 2).run(train=False, with_states=False, lists=False)
    Case(npu, cell).run(train=False)


@pytest.mark.parametrize("ways", [1, 2])
def test_sequences_of_different_lengths(ways, npu):
    runs = numpy.array([[1, 1], [1, 0], [1, 0]])
    Case(npu, "lstm", 2, ways, runs=runs).run()
    Case(npu, "lstm", 2, ways, runs=runs).back()


@pytest.mark.parametrize("absent", [[0], [1, 2]])
def test_absent_gradients_are_zero(absent, npu):
    Case(npu, "lstm", 1, 2).back(absent)


@pytest.mark.strict
def test_networks_refuse(npu):
    x, w, u = blank(npu, "f4", (3, 2, 4)), blank(npu, "f4", (8, 4)), blank(npu, "f4", (8, 2))
    b, y, h = blank(npu, "f4", (8,)), blank(npu, "f4", (3, 2, 2)), blank(npu, "f4", (1, 2, 2))

    def lstm(x=x, params=(w, u, b, b), hx=0, sizes=0, biases=True, layers=1, train=False, y=y, h=h, saved=0):
        outs = y, h, h if h is not y else y, *[saved] * 7
        hx = npu.list(hx) if hx else 0
        return npu.call("lstm", x, npu.list(params), hx, sizes, biases, layers, 0.0, train, False, False, *outs)

    refused(lstm(x=0), NULLPTR, "input is NULL")
    refused(lstm(train=True), NULLPTR, "hOut is NULL")
    refused(lstm(train=True, saved=npu.list([y, y])), INVALID, "hOut has 2 tensors, expected 1, one for each layer")
    refused(lstm(train=True, saved=npu.list([h])), INVALID, "hOut[0] has shape [1, 2, 2], expected [3, 2, 2]")
    refused(lstm(x=blank(npu, "f8", (3, 2, 4))), INVALID, "input has data type 11, float64, expected")
    refused(lstm(x=blank(npu, "b2", (3, 2, 4))), INVALID, "input has data type 27, bfloat16, expected")
    refused(lstm(x=w), INVALID, "input has 2 dimensions, expected 3")
    refused(lstm(layers=0), INVALID, "numLayers is 0, expected 1 or more")
    refused(lstm(layers=5), INVALID, "params has 4 tensors, expected some for each of the 5 layers")
    refused(lstm(biases=False), INVALID, "params has 4 tensors, expected 2, the parameters of each layer")
    refused(lstm(params=(u, u, b, b)), INVALID, "params[0] has shape [8, 2], expected [8, 4], a row for each gate")
    refused(lstm(params=(w, u, b, h)), INVALID, "params[3] has shape [1, 2, 2], expected [8]")
    refused(lstm(params=(w, blank(npu, "f2", (8, 2)), b, b)), INVALID, "params[1] has data type 1, float16, expected")
    refused(lstm(hx=[h]), INVALID, "hx has 1 tensors, expected 2, the hidden states and the cell states")
    refused(lstm(hx=[h, y]), INVALID, "hx[1] has shape [3, 2, 2], expected [1, 2, 2], a state for each layer")
    refused(lstm(y=h), INVALID, "output has shape [1, 2, 2], expected [3, 2, 2], the time and batch of the input")
    refused(lstm(h=y), INVALID, "hy has shape [3, 2, 2], expected [1, 2, 2]")
    refused(lstm(sizes=blank(npu, "i8", (3,))), INVALID, "input has 3 dimensions, expected 2")
    flat = blank(npu, "f4", (6, 4))
    refused(lstm(x=flat, sizes=blank(npu, "i4", (3,))), INVALID, "batchSizes has data type 3, int32, expected int64")
    refused(lstm(x=flat, sizes=blank(npu, "i8", (4,))), INVALID, "batchSizes has 4 numbers, expected a divisor of")


@pytest.mark.strict
def test_gated_networks_refuse(npu):
    x, w, u = blank(npu, "f4", (3, 2, 4)), blank(npu, "f4", (6, 4)), blank(npu, "f4", (6, 2))
    y, h = blank(npu, "f4", (3, 2, 2)), blank(npu, "f4", (1, 2, 2))

    def gru(x=x, sizes=0, train=False):
        outs = y, h, *[0] * 5
        return npu.call("gru", x, npu.list([w, u]), h, sizes, False, 1, 0.0, train, False, False, *outs)

    assert gru() == 0
    refused(gru(train=True), NULLPTR, "hOut is NULL")
    refused(gru(x=blank(npu, "f4", (0, 2, 4))), INVALID, "input has no elements")
    refused(gru(sizes=blank(npu, "i8", (3,))), INVALID, "batchSizes is given, which the operator does not support")

    def back(dx=x, params=(w, u), dh=h):
        lists = [npu.list([y]) for _ in range(5)]
        more = 0, False, 1, False, False, dx, h, npu.list(params)
        return npu.call("gru_backward", x, npu.list([w, u]), h, y, dh, *lists, *more)

    assert back() == 0
    refused(back(dh=0), NULLPTR, "dh is NULL")
    refused(back(dx=y), INVALID, "dxOut has shape [3, 2, 2], expected [3, 2, 4], that of input")
    refused(back(params=(u, u)), INVALID, "dparamsOut[0] has shape [6, 2], expected [6, 4]")
    refused(back(params=(w,)), INVALID, "dparamsOut has 1 tensors, expected 2")


def cell_of(inputs, hidden, c, *biases):
    """Return the next states, and the gates in the order of the columns."""
    i, f, j, o = numpy.split(inputs + hidden + sum(biases), 4, 1)
    gates = sigmoid(i), sigmoid(f), numpy.tanh(j), sigmoid(o)
    c = gates[1] * c + gates[0] * gates[2]
    return gates[3] * numpy.tanh(c), c, numpy.concatenate(gates, 1)


class TestFusedCell:
    """One step, from the products of the weights."""

    @pytest.mark.parametrize("count", [0, 2])
    @pytest.mark.parametrize("kind", KINDS)
    def test_forward(self, kind, count, npu):
        case = Case(npu, "lstm", kind=kind)
        arrays = [drawn(i, 3, size) for i, size in enumerate((8, 8, 2))] + [drawn(5 + i, 8) for i in range(count)]
        expected = cell_of(*arrays)
        outs = case.take(expected)
        given = [case.give(one) for one in arrays] + [0] * (2 - count)
        assert npu.call("thnn_fused_lstm_cell", *given, *outs) == 0, acl.get_recent_err_msg()
        case.check(outs, expected)

    @pytest.mark.parametrize("absent", [None, 0, 1])
    @pytest.mark.parametrize("kind", KINDS)
    def test_gradients(self, kind, absent, npu):
        case = Case(npu, "lstm", kind=kind)
        arrays = drawn(0, 3, 8), drawn(1, 3, 8), drawn(2, 3, 2), drawn(3, 8)
        gradients = [drawn(6 + i, 3, 2) * (i != absent) for i in range(2)]
        outs = case.take([arrays[0], *arrays[2:]])
        _, cy, storage = cell_of(*arrays)
        given = [0 if i == absent else case.give(one) for i, one in enumerate(gradients)]
        inputs = [*given, *map(case.give, (arrays[2], cy, storage))]
        name = "thnn_fused_lstm_cell_backward"
        assert npu.call(name, *inputs, True, *outs) == 0, acl.get_recent_err_msg()
        found = [exact(npu.get(one), kind) for one in outs]
        check_gradients(lambda *given: cell_of(*given)[:2], arrays, gradients, [found[0], *found], TOLERANCE[kind])
        kept = blank(npu, kind, (8,))
        assert npu.call(name, *inputs, False, *outs[:2], kept) == 0
        assert not npu.get(kept).any()

    @pytest.mark.strict
    def test_refuses(self, npu):
        gates, c, bias = blank(npu, "f4", (3, 8)), blank(npu, "f4", (3, 2)), blank(npu, "f4", (8,))

        def forward(first=gates, c=c, biases=(0, 0), storage=gates):
            return npu.call("thnn_fused_lstm_cell", first, gates, c, *biases, c, c, storage)

        refused(forward(first=0), NULLPTR, "inputGates is NULL")
        refused(forward(first=c), INVALID, "inputGates has shape [3, 2], expected [3, 8], four gates for each state")
        refused(forward(c=bias), INVALID, "cx has 1 dimensions, expected 2")
        refused(forward(biases=(bias, 0)), INVALID, "hiddenBiasOptional is NULL, expected both biases or none")
        refused(forward(biases=(bias, c)), INVALID, "hiddenBiasOptional has shape [3, 2], expected [8]")
        refused(forward(storage=blank(npu, "f2", (3, 8))), INVALID, "storageOut has data type 1, float16, expected")
        ret = npu.call("thnn_fused_lstm_cell_backward", 0, 0, c, c, gates, True, gates, gates, bias)
        refused(ret, INVALID, "gradCxOut has shape [3, 8], expected [3, 2], that of cx")
