"""The single operators of the gradients of an LSTM and of a GRU against NumPy: gate orders, masks, steps, refusals."""

import numpy
import pytest
from helpers.recurrent import check_gradients, gru, lstm
from helpers.single import Single, operands

import acl

TIME, BATCH, INPUT, HIDDEN = 4, 2, 3, 2
TOLERANCE = {"f4": 1e-5, "f2": 4e-3}
NONE = numpy.zeros((), "f4")  # what clients pass for an input that they do not have


def drawn(seed, *shape):
    """Return random numbers that float16 has exactly, as float64."""
    return numpy.random.default_rng(seed).uniform(-1, 1, shape).astype("f2").astype("f8")


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def run(single, op_type, inputs, shapes, kind, **values):
    """Run an operator whose outputs have these shapes, also if they are derived."""
    inputs = [single.omitted() if one is None else single.give(one.astype(kind)) for one in inputs]
    kinds = [kind] * len(shapes)
    assert single.shapes(op_type, inputs, kinds, **values) == shapes
    return [one.astype("f8") for one in single.run_all(op_type, inputs, shapes, kinds, **values)]


class Lstm:
    """A layer, its arrays and the gradients of what it puts out."""

    def __init__(self, order="ijfo", time=TIME, turn=1, runs=None):
        columns, self.order, self.turn, self.runs = 4 * HIDDEN, order, slice(None, None, turn), runs
        self.x, self.w, self.b = drawn(0, time, BATCH, INPUT), drawn(1, INPUT + HIDDEN, columns), drawn(2, columns)
        self.h, self.c = drawn(3, BATCH, HIDDEN), drawn(4, BATCH, HIDDEN)
        self.dy, self.dh, self.dc = drawn(5, time, BATCH, HIDDEN), drawn(6, BATCH, HIDDEN), drawn(7, BATCH, HIDDEN)

    def layer(self, x, w, b, h, c):
        """Return y and what is saved, in the order of time."""
        runs = None if self.runs is None else self.runs[self.turn]
        weights = w[:INPUT], w[INPUT:]
        return [one[self.turn] for one in lstm(x[self.turn], weights, (b, 0), h, c, self.order, runs=runs)]

    def outputs(self, *arrays):
        """Return y and the last states."""
        y, h, c, *_ = self.layer(*arrays)
        return y, h[self.turn][-1], c[self.turn][-1]

    def check(self, dw, db, dx, dh, dc, tolerance):
        """Assert gradients."""
        arrays = self.x, self.w, self.b, self.h, self.c
        check_gradients(self.outputs, arrays, (self.dy, self.dh, self.dc), (dx, dw, db, dh, dc), tolerance)


@pytest.mark.parametrize("kind", TOLERANCE)
class TestLstm:
    """The gradients are those of w, b, x, init_h and init_c."""

    @pytest.mark.parametrize("order", ["ijfo", "ifjo"])
    @pytest.mark.parametrize("turn", [1, -1])
    @pytest.mark.parametrize("masked", [False, True])
    def test_orders_directions_and_masks(self, masked, turn, order, kind, single):
        runs = numpy.array([[1, 1], [1, 1], [1, 0], [1, 0]]) if masked else None
        case = Lstm(order, turn=turn, runs=runs)
        y, h, c, i, j, f, o, tanhc = case.layer(case.x, case.w, case.b, case.h, case.c)
        mask = numpy.repeat(runs[:, :, None], HIDDEN, 2) if masked else NONE
        states = case.h[None], case.c[None]
        saved = [h, c, case.dy, case.dh, case.dc, i, j, f, o, tanhc]
        inputs = [case.x, case.w, case.b, y, *states, *saved, mask, *[NONE] * 4]
        shapes = [case.w.shape, case.b.shape, case.x.shape, states[0].shape, states[1].shape]
        values = {"direction": "UNIDIRECTIONAL" if turn == 1 else "REDIRECTIONAL", "gate_order": order}
        values.update(cell_depth=0, keep_prob=-1.0, cell_clip=-1.0, forget_bias=0.0, cell_type="LSTM")
        dw, db, dx, dh, dc = run(single, "DynamicRNNGrad", inputs, shapes, kind, **values)
        case.check(dw, db, dx, dh[0], dc[0], TOLERANCE[kind])

    def test_tanh_of_the_cell_state_is_optional(self, kind, single):
        case = Lstm()
        y, h, c, *gates, _ = case.layer(case.x, case.w, case.b, case.h, case.c)
        inputs = [case.x, case.w, case.b, y, case.h, case.c, h, c, case.dy, case.dh, case.dc, *gates]
        shapes = [case.w.shape, case.b.shape, case.x.shape, case.h.shape, case.c.shape]
        case.check(*run(single, "DynamicRNNGrad", inputs, shapes, kind), TOLERANCE[kind])

    @pytest.mark.parametrize("step", [False, True])
    def test_two_weights_and_a_step_without_its_time(self, step, kind, single):
        case = Lstm("ifjo", 1 if step else TIME)
        y, h, c, *saved = case.layer(case.x, case.w, case.b, case.h, case.c)
        x, h, c = (one[0] if step else one for one in (case.x, h, c))
        weights = case.w[:INPUT], case.w[INPUT:]
        inputs = [x, *weights, y, case.h, case.c, h, c, case.dy, case.dh, case.dc, *saved, *[NONE] * 5]
        shapes = [*(one.shape for one in weights), case.b.shape, x.shape, case.h.shape, case.c.shape]
        values = {"gate_order": "ifjo", "recurrent_activation": "sigmoid", "stateful": False, "merge_mode": "concat"}
        dw, du, db, dx, *states = run(single, "DynamicRNNV2Grad", inputs, shapes, kind, **values)
        case.check(numpy.concatenate([dw, du]), db, dx.reshape(case.x.shape), *states, TOLERANCE[kind])


@pytest.mark.parametrize("order", ["zrh", "rzh"])
@pytest.mark.parametrize("kind", TOLERANCE)
def test_gru(kind, order, single):
    columns = 3 * HIDDEN
    arrays = [
        drawn(0, TIME, BATCH, INPUT), drawn(1, INPUT, columns), drawn(2, HIDDEN, columns), drawn(3, columns),
        drawn(4, columns), drawn(5, BATCH, HIDDEN),
    ]  # fmt: skip

    def layer(x, w, u, b, d, h):
        return gru(x, (w, u), (b, d), h, order)

    def outputs(*given):
        y, h, *_ = layer(*given)
        return y, h[-1]

    x, w, u, b, d, state = arrays
    dy, dh = drawn(6, TIME, BATCH, HIDDEN), drawn(7, BATCH, HIDDEN)
    y, h, *saved = layer(*arrays)
    inputs = [x, w, u, y, state[None], h, dy, dh[None], *saved, NONE, NONE]
    shapes = [w.shape, u.shape, b.shape, d.shape, x.shape, (1, BATCH, HIDDEN)]
    values = {"gate_order": order, "reset_after": True, "bias_type": "no_bias", "direction": "UNIDIRECTIONAL"}
    dw, du, db, dd, dx, before = run(single, "DynamicGRUV2Grad", inputs, shapes, kind, **values)
    check_gradients(outputs, arrays, (dy, dh), (dx, dw, du, db, dd, before[0]), TOLERANCE[kind])


def zeros(*shape):
    """Return an array of zeros."""
    return numpy.zeros(shape, "f4")


TIMES, STATE, INPUTS = zeros(TIME, BATCH, HIDDEN), zeros(BATCH, HIDDEN), zeros(TIME, BATCH, INPUT)
LSTM = [INPUTS, zeros(INPUT + HIDDEN, 8), zeros(8), TIMES, STATE, STATE, *[TIMES] * 3, STATE, STATE, *[TIMES] * 5]
LSTM_OUT = [zeros(INPUT + HIDDEN, 8), zeros(8), INPUTS, STATE, STATE]
GRU = [INPUTS, zeros(INPUT, 6), zeros(HIDDEN, 6), TIMES, STATE, TIMES, TIMES, STATE, *[TIMES] * 4]
GRU_OUT = [zeros(INPUT, 6), zeros(HIDDEN, 6), zeros(6), zeros(6), INPUTS, STATE]
LENGTHS = numpy.full(BATCH, TIME, "i4")


def other(arrays, place, array):
    """Return the arrays with another one in a place."""
    return [*arrays[:place], array, *arrays[place + 1 :]]


# Type, inputs, outputs, attributes, code, words of the messages.
MISFITS = [
    ("DynamicRNNGrad", LSTM[:14], LSTM_OUT, {}, 100021, "numInputs is 14"),
    ("DynamicRNNGrad", LSTM, LSTM_OUT[:4], {}, 100022, "numOutputs is 4, expected 5"),
    ("DynamicRNNGrad", [*LSTM, LENGTHS], LSTM_OUT, {}, 100021, "inputs[16] of DynamicRNNGrad, seq_length, is given"),
    ("DynamicRNNGrad", LSTM, LSTM_OUT, {"gate_order": "ifco"}, 100023, "expected ijfo or ifjo"),
    ("DynamicRNNGrad", LSTM, LSTM_OUT, {"use_peephole": True}, 100023, "use_peephole of DynamicRNNGrad is 1"),
    ("DynamicRNNGrad", LSTM, LSTM_OUT, {"reset_after": True}, 100023, "DynamicRNNGrad has no attribute reset_after"),
    ("DynamicRNNGrad", other(LSTM, 1, zeros(4, 8)), LSTM_OUT, {}, 100024, "w has 4 rows and 8 columns"),
    ("DynamicRNNGrad", other(LSTM, 8, STATE), LSTM_OUT, {}, 100024, "dy has shape [2, 2], expected [4, 2, 2]"),
    ("DynamicRNNGrad", other(LSTM, 9, TIMES), LSTM_OUT, {}, 100024, "dh has shape [4, 2, 2], expected [1, 2, 2]"),
    ("DynamicRNNGrad", LSTM, other(LSTM_OUT, 0, zeros(5, 4)), {}, 100024, "dw has shape [5, 4], expected [5, 8]"),
    ("DynamicRNNGrad", LSTM, other(LSTM_OUT, 2, TIMES), {}, 100024, "dx has shape [4, 2, 2], expected [4, 2, 3]"),
    ("DynamicGRUV2Grad", GRU[:11], GRU_OUT, {}, 100021, "numInputs is 11"),
    ("DynamicGRUV2Grad", [*GRU, LENGTHS], GRU_OUT, {}, 100021, "inputs[12] of DynamicGRUV2Grad, seq_length, is given"),
    ("DynamicGRUV2Grad", GRU, GRU_OUT, {"reset_after": False}, 100023, "reset_after of DynamicGRUV2Grad is 0"),
    ("DynamicGRUV2Grad", other(GRU, 2, zeros(6, 2)), GRU_OUT, {}, 100024, "weight_hidden has 6 rows and 2 columns"),
    ("DynamicGRUV2Grad", other(GRU, 8, STATE), GRU_OUT, {}, 100024, "update has shape [2, 2], expected [4, 2, 2]"),
    ("DynamicGRUV2Grad", GRU, other(GRU_OUT, 3, zeros(8)), {}, 100024, "db_hidden has shape [8], expected [6]"),
]


@pytest.mark.parametrize(("op_type", "inputs", "outputs", "values", "code", "words"), MISFITS)
def test_what_does_not_fit(op_type, inputs, outputs, values, code, words, single):
    outs = [single.take(one.shape, "f4") for one in outputs]
    found = single.call(op_type, operands(single, inputs), outs, **values)
    text = acl.get_recent_err_msg()
    assert found == code, text
    assert not acl.is_simulator or words in text, text
