"""The single operators DynamicRNN, DynamicRNNV2 and DynamicGRUV2 against NumPy: gate orders, states, refusals."""

import numpy
import pytest
from helpers import recurrent
from helpers.single import Single, operands

import acl

TIME, BATCH, INPUT, HIDDEN = 4, 2, 3, 5
RANDOM = numpy.random.default_rng(3)
SHAPE = (TIME, BATCH, HIDDEN)
KINDS = ["f4", "f2"]


def drawn(*shape):
    """Return random numbers that float16 has exactly."""
    return RANDOM.uniform(-1, 1, shape).astype("f2")


X, H, C = drawn(TIME, BATCH, INPUT), drawn(1, BATCH, HIDDEN), drawn(1, BATCH, HIDDEN)
W, B = drawn(INPUT + HIDDEN, 4 * HIDDEN), drawn(4 * HIDDEN)
WEIGHTS = drawn(INPUT, 3 * HIDDEN), drawn(HIDDEN, 3 * HIDDEN)
BIASES = drawn(3 * HIDDEN), drawn(3 * HIDDEN)
ZERO, NO_BIAS = numpy.zeros((1, BATCH, HIDDEN)), numpy.zeros(3 * HIDDEN)


@pytest.fixture
def single(npu):
    """Give operands of single operators."""
    made = Single(npu)
    yield made
    made.close()


def lstm(h=ZERO, c=ZERO, order="ijfo", forget_bias=0.0, x=X, runs=None, bias=B):
    """Return y, output_h, output_c, i, j, f, o and tanhc."""
    x, w, h, c = (one.astype("f8") for one in (x, W, h[0], c[0]))
    return recurrent.lstm(x, (w[:INPUT], w[INPUT:]), (bias, 0), h, c, order, forget_bias, runs)


def gru(h=ZERO, biases=(NO_BIAS, NO_BIAS), order="zrh"):
    """Return y, output_h, update, reset, new and hidden_new."""
    return recurrent.gru(X.astype("f8"), [one.astype("f8") for one in WEIGHTS], biases, h[0].astype("f8"), order)


def given(single, arrays, kind):
    """Return operands of a type; None is an input that is omitted."""
    return [single.omitted() if one is None else single.give(one.astype(kind)) for one in arrays]


def check(single, op_type, inputs, expected, kind, **values):
    """Assert the derived shapes, and the values of all outputs."""
    kinds = [kind] * len(expected)
    assert single.shapes(op_type, inputs, kinds, **values) == [SHAPE] * len(expected)
    found = single.run_all(op_type, inputs, [SHAPE] * len(expected), kinds, **values)
    tolerance = 1e-5 if kind == "f4" else 1e-3
    for one, wanted in zip(found, expected):
        numpy.testing.assert_allclose(one, wanted, rtol=tolerance, atol=tolerance)


class TestLstm:
    """The columns of w are those of the gates i, j, f and o, in this order by default."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_defaults(self, kind, single):
        check(single, "DynamicRNN", given(single, [X, W, B], kind), lstm(), kind)

    @pytest.mark.parametrize("order", ["ijfo", "ifjo"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_states_and_orders(self, order, kind, single):
        inputs = given(single, [X, W, B, None, H, C], kind)
        values = {"gate_order": order, "forget_bias": 1.5, "is_training": False}
        check(single, "DynamicRNN", inputs, lstm(H, C, order, 1.5), kind, **values)

    def test_from_the_last_time_to_the_first(self, single):
        inputs = given(single, [X, W, B, None, H, C], "f4")
        expected = [one[::-1] for one in lstm(H, C, x=X[::-1])]
        check(single, "DynamicRNN", inputs, expected, "f4", direction="REDIRECTIONAL")

    def test_only_one_state(self, single):
        inputs = given(single, [X, W, B, None, None, C, None, None, None, None], "f4")
        check(single, "DynamicRNN", inputs, lstm(c=C), "f4", time_major=True, direction="UNIDIRECTIONAL")

    def test_host_memory(self, single):
        inputs = [single.constant(X, "f4"), *given(single, [W, B], "f4")]
        check(single, "DynamicRNN", inputs, lstm(), "f4", cell_type="LSTM", activation="tanh", keep_prob=1.0)

    def test_a_nan_spoils_its_sequence_from_its_step_on(self, single):
        spoilt = X.astype("f4")
        spoilt[1, 0, 0] = numpy.nan
        inputs = [single.give(spoilt), *given(single, [W, B], "f4")]
        y = single.run_all("DynamicRNN", inputs, [SHAPE] * 8, ["f4"] * 8)[0]
        assert numpy.isnan(y[1:, 0]).all() and not numpy.isnan(y[0]).any() and not numpy.isnan(y[:, 1]).any()

    @pytest.mark.parametrize("direction", ["UNIDIRECTIONAL", "REDIRECTIONAL"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_mask_ends_sequences(self, kind, direction, single):
        turn = slice(None, None, 1 if direction == "UNIDIRECTIONAL" else -1)
        mask = numpy.repeat(numpy.array([[1, 1], [1, 1], [1, 0], [1, 0]])[:, :, None], HIDDEN, 2)
        inputs = given(single, [X, W, B, mask, H, C], kind)
        expected = [one[turn] for one in lstm(H, C, x=X[turn], runs=mask[turn, :, 0])]
        check(single, "DynamicRNN", inputs, expected, kind, direction=direction)

    def test_a_scalar_is_no_mask(self, single):
        inputs = [*given(single, [X, W, B], "f4"), single.give(numpy.zeros((), "f4"))]
        check(single, "DynamicRNN", inputs, lstm(), "f4")

    @pytest.mark.parametrize("order", ["ijfo", "ifco"])
    @pytest.mark.parametrize("with_bias", [True, False])
    def test_second_version_has_two_weights_and_puts_out_the_last_states(self, with_bias, order, single):
        inputs = given(single, [X, W[:INPUT], W[INPUT:], B if with_bias else None, None, H, C], "f4")
        expected = lstm(H, C, order.replace("c", "j"), bias=B if with_bias else 0)
        expected[1:3] = [one[-1:] for one in expected[1:3]]
        values = {"gate_order": order, "recurrent_activation": "sigmoid", "stateful": False, "merge_mode": "concat"}
        shapes = [one.shape for one in expected]
        assert single.shapes("DynamicRNNV2", inputs, ["f4"] * 8, **values) == shapes
        found = single.run_all("DynamicRNNV2", inputs, shapes, ["f4"] * 8, **values)
        for one, wanted in zip(found, expected):
            numpy.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-5)

    def test_no_steps(self, single):
        inputs = [single.give(X[:0].astype("f4")), *given(single, [W, B], "f4")]
        assert single.run_all("DynamicRNN", inputs, [(0, BATCH, HIDDEN)] * 8, ["f4"] * 8)[0].size == 0


class TestGru:
    """The columns of the weights are those of the gates z, r and h, in this order by default."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_defaults(self, kind, single):
        check(single, "DynamicGRUV2", given(single, [X, *WEIGHTS], kind), gru(), kind)

    @pytest.mark.parametrize("order", ["zrh", "rzh"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_biases_state_and_orders(self, order, kind, single):
        inputs = given(single, [X, *WEIGHTS, *BIASES, None, H[0]], kind)
        check(single, "DynamicGRUV2", inputs, gru(H, BIASES, order), kind, gate_order=order, reset_after=True)

    def test_one_bias(self, single):
        inputs = given(single, [X, *WEIGHTS, None, BIASES[1], None, H], "f4")
        check(single, "DynamicGRUV2", inputs, gru(H, (NO_BIAS, BIASES[1])), "f4")


RNN = [one.astype("f4") for one in (X, W, B)]
GRU = [one.astype("f4") for one in (X, *WEIGHTS)]
STATE = numpy.zeros((BATCH, HIDDEN), "f4")
# Type, inputs, attributes, code, words of the messages.
MISFITS = [
    ("DynamicRNN", RNN[:2], {}, 100021, "numInputs is 2"),
    ("DynamicRNN", [*RNN, numpy.full(BATCH, TIME, "i4")], {}, 100021, "inputs[3] of DynamicRNN, seq_length, is given"),
    ("DynamicRNN", [*RNN, *[STATE] * 4], {}, 100021, "numInputs is 7"),
    ("DynamicRNN", RNN, {"gate_order": "fijo"}, 100023, 'gate_order of DynamicRNN is "fijo", expected ijfo or ifjo'),
    ("DynamicRNN", RNN, {"direction": "BIDIRECTIONAL"}, 100023, 'direction of DynamicRNN is "BIDIRECTIONAL"'),
    ("DynamicRNN", RNN, {"activation": "relu"}, 100023, 'activation of DynamicRNN is "relu"'),
    ("DynamicRNN", RNN, {"cell_type": "GRU"}, 100023, 'cell_type of DynamicRNN is "GRU"'),
    ("DynamicRNN", RNN, {"use_peephole": True}, 100023, "use_peephole of DynamicRNN is 1, which the simulator does"),
    ("DynamicRNN", RNN, {"time_major": False}, 100023, "time_major of DynamicRNN is 0, which the simulator does not"),
    ("DynamicRNN", RNN, {"cell_clip": 0.5}, 100023, "cell_clip of DynamicRNN is 0.5, which the simulator does not"),
    ("DynamicRNN", RNN, {"hidden_size": 5}, 100023, "DynamicRNN has no attribute hidden_size"),
    ("DynamicRNN", [RNN[0][0], *RNN[1:]], {}, 100024, "x has 2 dimensions, expected 3"),
    ("DynamicRNN", [RNN[0], RNN[1][1:].copy(), RNN[2]], {}, 100024, "w has 7 rows and 20 columns"),
    ("DynamicRNN", [*RNN[:2], RNN[2][:5].copy()], {}, 100024, "b has shape [5], expected [20]"),
    ("DynamicRNN", [*RNN, RNN[0]], {}, 100024, "seq_length has shape [4, 2, 3], expected [4, 2, 5]"),
    ("DynamicRNNV2", RNN, {}, 100024, "weight_hidden has 1 dimensions, expected 2"),
    ("DynamicRNNV2", [*RNN[:2], RNN[1]], {}, 100024, "weight_hidden has 8 rows and 20 columns, expected 4 times"),
    ("DynamicRNNV2", RNN, {"gate_order": "ifjo"}, 100023, 'gate_order of DynamicRNNV2 is "ifjo", expected ijfo or'),
    ("DynamicRNNV2", RNN, {"merge_mode": "sum"}, 100023, 'merge_mode of DynamicRNNV2 is "sum", which the'),
    ("DynamicRNNV2", RNN, {"stateful": True}, 100023, "stateful of DynamicRNNV2 is 1, which the simulator does not"),
    ("DynamicGRUV2", GRU[:2], {}, 100021, "numInputs is 2"),
    ("DynamicGRUV2", GRU, {"gate_order": "hzr"}, 100023, 'gate_order of DynamicGRUV2 is "hzr", expected zrh or rzh'),
    ("DynamicGRUV2", GRU, {"reset_after": False}, 100023, "reset_after of DynamicGRUV2 is 0, which the simulator"),
    ("DynamicGRUV2", [GRU[0], GRU[1][:2].copy(), GRU[2]], {}, 100024, "weight_input has shape [2, 15]"),
    ("DynamicGRUV2", [GRU[0], GRU[1], GRU[1]], {}, 100024, "weight_hidden has 3 rows and 15 columns"),
    ("DynamicGRUV2", [*GRU, STATE], {}, 100024, "bias_input has shape [2, 5], expected [15]"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "values", "code", "words"), MISFITS)
def test_what_does_not_fit(op_type, inputs, values, code, words, single):
    outs = [single.take(SHAPE, "f4") for _ in range(6 if op_type == "DynamicGRUV2" else 8)]
    found = single.call(op_type, operands(single, inputs), outs, **values)
    text = acl.get_recent_err_msg()
    assert found == code, text
    assert not acl.is_simulator or words in text, text


def test_states_and_outputs_of_other_shapes(single):
    outs = [single.take(SHAPE, "f4") for _ in range(8)]
    state = given(single, [*RNN, None, H[:, :1]], "f4")
    assert single.call("DynamicRNN", state, outs) == 100024
    text = acl.get_recent_err_msg()
    assert not acl.is_simulator or "init_h has shape [1, 1, 5], expected [1, 2, 5]" in text, text
    outs[2] = single.take((TIME, BATCH, 4), "f4")
    assert single.call("DynamicRNN", given(single, RNN, "f4"), outs) == 100024
    text = acl.get_recent_err_msg()
    assert not acl.is_simulator or "output_c has shape [4, 2, 4], expected [4, 2, 5]" in text, text
    assert single.call("DynamicRNN", given(single, RNN, "f4"), outs[:2]) == 100022
