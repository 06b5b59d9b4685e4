"""Models as objects: loading, describing, calling with arrays, queueing, futures, the end."""

import asyncio
import gc
import io
import re
import sys
import threading
import traceback
import warnings
from pathlib import Path

import numpy
import pytest
from helpers import object_models
from helpers.expect import in_thread
from helpers.object_models import MODELS, floats, load
from helpers.objects import free_memory, fresh_stream, held, raises

import acl
from acl.objects.op_call import CODES
from acl.sim import om

pytestmark = [pytest.mark.strict, pytest.mark.usefixtures("opened")]
stream = fresh_stream


@pytest.fixture(scope="module", autouse=True)
def functions():
    object_models.register()
    yield
    object_models.forget()


@pytest.fixture
def model(opened):
    with load("affine") as model:
        yield model


def device(*values):
    return acl.DeviceArray.from_numpy(floats(*values))


# --- Loading and describing


@pytest.mark.parametrize("kind", ["str", "path", "bytes", "bytearray", "numpy", "host", "device"])
@pytest.mark.parametrize("own", [False, True], ids=["library", "program"])
def test_sources(kind, own, tmp_path):
    content = MODELS["affine"][1]
    path = tmp_path / "affine.om"
    path.write_bytes(content)
    buffers = {kind: acl.Buffer(len(content), kind=kind) for kind in ("host", "device")}
    for buffer in buffers.values():
        buffer.copy_from(content)
    known = {"str": str(path), "path": Path(path), "bytes": content, "bytearray": bytearray(content)}
    source = {**known, "numpy": numpy.frombuffer(content, "u1"), **buffers}[kind]
    need = acl.Model.memory_of(source)
    assert need == (64, 64)
    given = {"work": acl.Buffer(need.work), "weights": acl.Buffer(need.weights)} if own else {}
    with acl.Model(source, **given) as model:
        for buffer in (*given.values(), *buffers.values()):
            buffer.close()  # the model holds what it needs
        assert model([1, 2]).tolist() == [3, 5]


def test_description():
    with load("pair") as model:
        assert model.inputs.names == ("a", "b") and model.outputs.keys() == ("sum", "turned")
        a, b = model.inputs
        assert (a.name, a.shape, a.dtype, a.format, a.size, a.dynamic) == ("a", (2, 2), "f4", "ND", 16, False)
        assert model.inputs["b"] is b and b.dtype == "i4" and model.gears == () and model.depth == 8
        assert repr(model) == (
            f"<acl.Model {model.handle:#x} (a: float32 (2, 2), b: int32 (2, 2)) -> "
            "(sum: float32 (2, 2), turned: int32 (2, 2))>"
        )
        html = model._repr_html_()
        assert html.count("<tr>") == 5 and "<td>turned</td><td>(2, 2)</td><td>int32</td><td>ND</td><td>16</td>" in html
    with load("batched") as model:
        assert model.gears == (1, 4, 8) and model.inputs.names == ("x",) and model.inputs[0].dynamic
    with load("open", output_bytes=40) as model:
        assert model.inputs[0].ranges == ((1, 10), (2, 2)) and model.inputs[0].size == 0


# --- Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("known", [True, False])
def test_map_shows_a_bar_on_a_terminal(known, model, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    inputs = [[1, 2]] * 3
    assert len(list(model.map(inputs if known else iter(inputs)))) == 3
    assert "acl.Model: " in terminal.getvalue() and ("3/3" if known else "3it") in terminal.getvalue()


@pytest.mark.parametrize("lacks", ["terminal", "tqdm"])
def test_map_shows_no_bar_where_nobody_looks_or_tqdm_is_not_there(lacks, model, monkeypatch):
    monkeypatch.setattr(sys, "stderr", text := io.StringIO() if lacks == "terminal" else Terminal())
    if lacks == "tqdm":
        monkeypatch.setattr("acl.progress.find_spec", lambda name: None)
    assert len(list(model.map([[1, 2]] * 3))) == 3
    assert text.getvalue() == ""


# --- Calling


@pytest.mark.parametrize("given", [[1, 2], (1.0, 2.0), floats(1, 2), floats(1, 9, 2, 9)[::2]], ids=repr)
def test_host_in_host_out(given, model):
    result = model(given)
    assert type(result) is numpy.ndarray and result.dtype == "f4" and result.tolist() == [3, 5]
    assert model(x=given).tolist() == model.submit(given).result().tolist() == [3, 5]


@pytest.mark.parametrize("how", ["call", "stream", "submit"])
def test_device_in_device_out(how, model, stream):
    x = device(1, 2)
    if how == "submit":
        result = model.submit(x).result()
    else:
        result = model(x, stream=stream if how == "stream" else None)
    assert type(result) is acl.DeviceArray and result.to_numpy().tolist() == [3, 5]


@pytest.mark.parametrize("form", ["one", "tuple", "dict", "device"])
@pytest.mark.parametrize("how", ["call", "submit"])
def test_outputs_of_the_programs(form, how):
    a, b = numpy.ones((2, 2), "f4"), numpy.array([[1, 2], [3, 4]], "i4")
    total = numpy.empty((2, 2), "f4")
    turned = acl.DeviceArray((2, 2), "i4") if form == "device" else numpy.empty((2, 2), "i4")
    with load("pair") as model:
        out = {"one": {"sum": total}, "dict": {"turned": turned, "sum": total}}.get(form, (total, turned))
        result = model(a, b=b, out=out) if how == "call" else model.submit(a, b=b, out=out).result()
    assert result[0] is result["sum"] is total and total.tolist() == [[2, 3], [4, 5]]
    if form != "one":
        assert result["turned"] is turned
    turned = result[1].to_numpy() if form == "device" else result[1]
    assert turned.tolist() == [[1, 3], [2, 4]] and dict(result).keys() == {"sum", "turned"}
    first, second = result
    assert first is total


@pytest.mark.parametrize("how", ["host", "device", "stream", "submit", "submit device", "out"])
@pytest.mark.parametrize("name, shapes, expected", [
    ("batched", [(4, 3)], (4, 3)), ("batched", [(8, 3)], (8, 3)), ("batched", [(1, 3)], (1, 3)),
    ("sized", [(1, 2, 2)], (1, 2, 2)), ("sized", [(1, 4, 6)], (1, 4, 6)),
    ("free", [(1, 2), (2, 3)], (1, 2)), ("free", [(4, 5), (2, 6)], (4, 5)),
])  # fmt: skip
def test_the_gear_is_that_of_the_shapes(name, shapes, expected, how, stream):
    given = [numpy.ones(shape, "f4") for shape in shapes]
    with load(name) as model:
        for _ in range(2):  # the second time in the slot of the first
            if how == "host":
                result = model(*given)
            elif how == "submit":
                result = model.submit(*given).result()
            elif how == "out":
                result = model(*given, out=acl.DeviceArray(expected)).to_numpy()
            else:
                arrays = [acl.DeviceArray.from_numpy(each) for each in given]
                call = {"device": model, "submit device": lambda *them: model.submit(*them).result()}.get(how)
                result = (call(*arrays) if call else model(*arrays, stream=stream)).to_numpy()
            assert result.shape == expected
            assert (result == MODELS[name][0](*given)).all()


@pytest.mark.parametrize("how", ["call", "device", "submit"])
def test_open_shapes(how):
    with load("open", output_bytes=40) as model:
        for rows in (3, 10, 1):
            x = numpy.arange(2 * rows, dtype="f4").reshape(rows, 2)
            if how == "device":
                result = model(acl.DeviceArray.from_numpy(x)).to_numpy()
            else:
                result = model(x) if how == "call" else model.submit(x).result()
            assert result.tolist() == [4 * row + 1 for row in range(rows)]


def test_images_are_preprocessed():
    raw = numpy.arange(12, dtype="u1")
    with load("image") as model:
        assert model.inputs[0].raw
        plain = acl.Aipp("rgb888", (2, 2))
        swapped = acl.Aipp("rgb888", (2, 2), swap_rb=True, mean=(1, 2, 3, 0), factor=(2, 2, 2, 2))
        assert model(raw, aipp=plain).tolist() == raw.reshape(1, 2, 2, 3).tolist()
        expected = (raw.reshape(1, 2, 2, 3)[..., ::-1].astype("f4") - [1, 2, 3]) * 2
        assert model.submit(raw, aipp=swapped).result().tolist() == expected.tolist()
        assert repr(plain) == f"<acl.Aipp {plain.handle:#x} 1 x 2x2 rgb888>"


@pytest.mark.parametrize("how", ["call", "out", "submit", "device"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int64"])
def test_types_with_and_without_a_letter_in_the_buffer_protocol(dtype, how):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = numpy.dtype(getattr(ml_dtypes, dtype, dtype))
    x, y = numpy.arange(3).astype(kind), numpy.empty(3, kind)
    ports = ([om.Tensor(name, (3,), CODES[dtype])] for name in "xy")
    acl.sim.model("same")(lambda x: x)
    with acl.Model(object_models.content("same", *ports)) as model:
        given = acl.DeviceArray.from_numpy(x) if how == "device" else x
        result = model.submit(given).result() if how == "submit" else model(given, out=y if how == "out" else None)
        result = result.to_numpy() if how == "device" else result
        assert result.dtype == kind and result.tolist() == [0, 1, 2] and (how != "out" or result is y)
    acl.sim.model("same")(None)


@pytest.mark.parametrize("between", ["host", "device", "submit", "nothing"])
def test_one_slot_follows_the_arrays_that_it_is_given(between):
    """Arrays on the device are used as they are, whatever the slot was bound to before."""
    x, other, y = device(1, 2), device(3, 4), device(0, 0)
    with load("affine", depth=1) as model:
        for given, expected in ((x, [3, 5]), (other, [7, 9]), (other, [7, 9]), (x, [3, 5])):
            y.fill(0)
            assert model(given, out=y) is y and y.to_numpy().tolist() == expected
            if between == "host":
                assert model([5, 6]).tolist() == [11, 13]
            elif between == "device":
                assert model(device(5, 6)).to_numpy().tolist() == [11, 13]
            elif between == "submit":
                assert model.submit(given).result().to_numpy().tolist() == expected


def test_an_execution_in_place_comes_after_the_work_of_its_arrays(model, stream):
    x, y = device(0, 0), device(0, 0)
    with held(stream) as latch:
        x.copy_from(device(1, 2), stream=stream)
        threading.Timer(0, latch.release).start()
        assert model(x, out=y) is y and y.to_numpy().tolist() == [3, 5]


def test_executions_in_place_leave_nothing_behind(model):
    x, y, closed = device(1, 2), device(0, 0), device(0, 0)
    closed.close()

    def execute(count):
        for _ in range(count):
            assert model(x, out=y) is y
            model(x).close()
            for wrong in ((closed, y), (x, closed), (x, 5), (x[::-1], y)):
                with pytest.raises(acl.AclError):
                    model(wrong[0], out=wrong[1])
        gc.collect()

    execute(1)
    watched, before = (x, y, x._block, y._block, x._layout), free_memory()
    references = [sys.getrefcount(each) for each in watched]
    execute(50)
    assert [sys.getrefcount(each) for each in watched] == references and free_memory() == before
    assert y.to_numpy().tolist() == [3, 5]


# --- On streams


def test_a_run_on_a_stream_comes_after_what_is_queued(model, stream):
    x = device(0, 0)
    with held(stream) as latch:
        x.copy_from(device(1, 2), stream=stream)
        y = model(x, stream=stream)
        z = model(y, stream=stream)
        assert not stream.query()
        latch.release()
        assert z.to_numpy().tolist() == [7, 11]


def test_runs_of_one_model_do_not_overlap(model, stream):
    with acl.Stream() as other, held(stream) as latch:
        model(device(1, 2), stream=stream)
        y = model(device(3, 4), stream=other)
        run = model.submit([5, 6])
        assert not other.query() and not run.done()
        latch.release()
        assert run.result().tolist() == [11, 13] and y.to_numpy().tolist() == [7, 9]


def test_a_run_is_captured(model, stream):
    x, y = device(1, 2), device(0, 0)
    assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
    model(x, out=y, stream=stream)
    kept = model(y, stream=stream)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0
    for values in ((1, 2), (3, 4)):
        x.copy_from(floats(*values))
        assert acl.mdl.ri_execute_async(instance, stream.handle) == 0
        stream.synchronize()
        assert kept.to_numpy().tolist() == [4 * value + 3 for value in values]
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_model_with_gears_is_captured_in_any_mode(stream, mode):
    with load("batched") as batched:
        x = acl.DeviceArray.zeros((4, 3))
        with acl.capture(stream, mode) as graph:
            kept = batched(x, stream=stream)
        batched(acl.DeviceArray.zeros((8, 3)), stream=stream)  # another gear, in memory of its own
        for value in (1, 2):
            x.fill(value)
            graph.run(stream)
            assert numpy.array_equal(kept.to_numpy(), numpy.full((4, 3), 4 * value, "f4"))
        graph.close()


def test_a_model_with_parameters_for_images_is_captured(stream):
    with load("image") as image, acl.Aipp("rgb888", (2, 2)) as aipp:
        x = acl.DeviceArray.from_numpy(numpy.arange(12, dtype="u1"))
        with acl.capture(stream) as graph:
            y = image(x, stream=stream, aipp=aipp)
        graph.run(stream)
        assert y.size == 12 and graph.nodes[-1].name == "image"
        graph.close()


def test_a_picture_of_a_graph_has_the_names_of_its_models(stream):
    x = device(1, 2)
    with load("affine") as model:
        with acl.capture(stream) as graph:
            model(x, stream=stream)
        node = graph.nodes[-1]
        assert (node.name, node.type, node.kind) == ("affine", "MODEL_EXECUTE", "kernel")
        assert ">affine<" in graph.to_svg()
    assert re.search(r"unloaded model \d+", graph.nodes[-1].name)
    graph.close()


# --- Futures


def test_runs_come_after_the_work_their_memory_was_told_of(model, stream):
    x, y = device(0, 0), device(0, 0)
    with held(stream) as latch:
        x.copy_from(device(1, 2), stream=stream)
        run = model.submit(x, out=y)
        assert not run.done() and repr(run) == "<acl.ModelRun queued>"
        with raises(acl.TimedOutError):
            run.result(timeout=0.001)
        latch.release()
        assert run.result(timeout=60) is y and y.to_numpy().tolist() == [3, 5]
    assert run.done() and run.exception() is None and repr(run) == "<acl.ModelRun done>"


def test_a_stream_waits_for_a_run_that_was_given_it(model, stream):
    with acl.Stream() as first, held(first) as latch:
        x = device(1, 2)
        x.copy_from(device(3, 4), stream=first)
        run = model.submit(x, stream=stream)
        assert not stream.query()
        latch.release()
        stream.synchronize()
        assert run.result().to_numpy().tolist() == [7, 9]


def test_the_input_can_be_used_again_at_once(model, stream):
    x = floats(1, 2)
    with held(stream) as latch:
        run = model.submit(x, stream=stream)
        x[:] = 9
        latch.release()
        assert run.result().tolist() == [3, 5]


def test_many_runs_use_few_slots():
    with load("affine", depth=3) as model:
        runs = [model.submit([number, number]) for number in range(50)]
        assert [int(run.result()[0]) for run in runs] == [2 * number + 1 for number in range(50)]
        assert len(model._pool.idle) == model._pool._made == 3
        assert [int(each[0]) for each in model.map([i, i] for i in range(20))] == [2 * i + 1 for i in range(20)]
        assert [each.tolist() for each in model.map([{"x": [1, 2]}, (floats(3, 4),)])] == [[3, 5], [7, 9]]


def test_a_launcher_waits_when_all_slots_are_under_way(stream):
    with load("affine", depth=2) as model, held(stream) as latch:
        runs = [model.submit([number, 0], stream=stream) for number in range(2)]
        begun, context = threading.Event(), acl.Context.current()

        def launch():
            context.use()
            begun.set()
            runs.append(model.submit([2, 0]))

        thread = threading.Thread(target=launch)
        thread.start()
        begun.wait()
        assert len(runs) == 2 and model._pool._made == 2
        latch.release()
        thread.join()
        assert [int(run.result()[0]) for run in runs] == [1, 3, 5] and model._pool._made == 2


def test_a_failure_is_that_of_its_run(model, raised):
    runs = [model.submit([value, 0]) for value in (1, -1, 2)]
    assert [run.exception() is None for run in runs] == [True, False, True]
    with raises(acl.TaskError, "affine", "507011"):
        runs[1].result()
    assert runs[2].result().tolist() == [5, 1] and "failed" in repr(runs[1])
    with raises(acl.TaskError, "affine", "it is negative"):
        model([-1, 0])
    assert [str(error) for error in raised] == ["it is negative"] * 2 and model([1, 1]).tolist() == [3, 3]


def test_callbacks_come_in_order_and_may_use_the_model(model, stream):
    seen, last = [], threading.Event()

    def read(run):
        seen.append((int(run.result()[0]), int(model([1, 1])[0]), threading.current_thread().name))
        if len(seen) == 20:
            last.set()

    with load("affine", depth=20) as many, held(stream):
        for number in range(20):
            many.submit([number, 0], stream=stream).add_done_callback(read)
    last.wait()
    assert [each[0] for each in seen] == [2 * number + 1 for number in range(20)]
    assert {each[1:] for each in seen} == {(3, "acl.Model")}


def test_a_callback_of_a_run_that_is_done_is_made_at_once(model):
    run, seen = model.submit([1, 1]), []
    run.result()
    run.add_done_callback(seen.append)
    assert seen == [run]


def test_what_a_callback_raises_is_reported_and_the_next_is_called(model, stream, monkeypatch):
    reported, seen = [], []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: reported.append(arguments.exc_value))
    with held(stream):
        run = model.submit([1, 1], stream=stream)
        run.add_done_callback(lambda run: {}["missing"])
        run.add_done_callback(seen.append)
    model.close()
    assert [type(error) for error in reported] == [KeyError] and seen == [run]


def test_asyncio_waits_for_runs(model, stream):
    order = []

    async def main():
        with held(stream) as latch:
            runs = [model.submit([number, 0], stream=stream) for number in range(3)]
            tasks = [asyncio.ensure_future(run._wait_async()) for run in runs]
            await asyncio.sleep(0)
            order.append("loop")
            tasks[2].cancel()
            latch.release()
            results = await asyncio.gather(*tasks[:2])
            return [int(each[0]) for each in [*results, await runs[2]]]

    assert asyncio.run(main()) == [1, 3, 5] and order == ["loop"]


def test_results_are_read_by_any_thread(model):
    run = model.submit([1, 2])
    assert in_thread(run.result).tolist() == [3, 5]


def test_many_threads_share_a_model(model):
    context, failed = acl.Context.current(), []

    def work(number):
        context.use()
        for _ in range(10):
            if model([number, 0])[0] != 2 * number + 1 or model.submit([0, number]).result()[1] != 2 * number + 1:
                failed.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


# --- The end


def test_closing_waits_for_runs_and_keeps_their_results(stream):
    model = load("affine", depth=4)
    with held(stream) as latch:
        runs = [model.submit([number, 0], stream=stream) for number in range(3)]
        y = model(device(1, 2), stream=stream)
        context = acl.Context.current()

        def close():
            context.use()
            latch.release()
            model.close()

        in_thread(close)
    model.close()
    assert model.closed and repr(model) == "<acl.Model closed>"
    assert [int(run.result()[0]) for run in runs] == [1, 3, 5] and y.to_numpy().tolist() == [3, 5]


def test_a_borrowed_model_is_not_unloaded():
    content = MODELS["affine"][1]
    handle, ret = acl.mdl.load_from_mem(acl.util.bytes_to_ptr(content), len(content))
    assert ret == 0
    with acl.Model.from_handle(handle) as model:
        assert model([1, 2]).tolist() == [3, 5] and not model.owned and "borrowed" in repr(model)
    assert acl.mdl.unload(handle) == 0


@pytest.mark.parametrize("flying", [False, True])
def test_what_is_dropped_is_unloaded_and_reported(flying):
    model = load("affine")
    text, handle = repr(model), model.handle
    if flying:
        model.submit([1, 2])
    with pytest.warns(ResourceWarning) as caught:
        del model
        gc.collect()
    assert [str(warning.message) for warning in caught] == [f"unclosed {text}: call close() or use `with`"]
    assert acl.mdl.unload(handle) == 145003


def test_the_end_of_the_process_says_nothing(run_script):
    code = f"""
import acl, numpy
acl.sim.model("affine")(numpy.negative)
device = acl.Device(0).use()
model = acl.Model({MODELS["affine"][1]!r})
run = model.submit([1, 2])
run.add_done_callback(lambda run: None)
print(run.result().tolist())
"""
    done = run_script(code)
    assert (done.stdout, done.returncode) == ("[-1.0, -2.0]\n", 0), done.stderr
    assert "Error" not in done.stderr and "Warning" not in done.stderr


def test_the_streams_of_slots_end_with_their_model(stream):
    before = acl.sim.live("stream")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load("affine")
        run = model.submit([1, 2])
        assert run.result().tolist() == [3, 5]
        x = device(1, 2)
        with acl.capture(stream) as graph:
            model(x, stream=stream)  # has the slot of that run
        model.close()
        graph.close()  # gives it back
        gc.collect()
    assert acl.sim.live("stream") == before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_the_function_of_a_model_raised_is_the_cause(model, stream):
    for run in (model.submit([-1, 2]).result, lambda: model([-1, 2])):
        with pytest.raises(acl.AclError, match="ValueError: it is negative") as caught:
            run()
        assert isinstance(caught.value.__cause__, ValueError)
        assert "affine" in [frame.name for frame in traceback.extract_tb(caught.value.__cause__.__traceback__)]


def test_nothing_grows_over_50_rounds(stream):
    def round():
        with load("affine", depth=2) as model, load("batched") as geared:
            x = device(1, 2)
            model(model(x, stream=stream), stream=stream)
            runs = [model.submit(given) for given in (x, [3, 4], x)]
            runs[0].add_done_callback(lambda run: None)
            geared(numpy.ones((4, 3), "f4"))
            assert runs[1].result().tolist() == [7, 9]
            stream.synchronize()

    def state():
        gc.collect()
        return acl.rt.get_stream_available_num(), acl.rt.get_event_avail_num(), free_memory()

    round()
    before, objects, threads = state(), len(gc.get_objects()), threading.active_count()
    for _ in range(50):
        round()
    assert state() == before and threading.active_count() == threads
    assert len(gc.get_objects()) - objects < 100


@pytest.mark.needs_sim
def test_no_handle_is_left():
    gc.collect()
    before = acl.sim.live()
    for _ in range(3):
        with load("free") as model, load("image") as image:
            model.submit(numpy.ones((1, 2), "f4"), numpy.ones((2, 3), "f4"))
            image(numpy.zeros(12, "u1"), aipp=acl.Aipp("rgb888", (2, 2)))
        with raises(acl.InvalidArgumentError):
            load("affine", depth=0)
    gc.collect()
    assert acl.sim.live() == before
