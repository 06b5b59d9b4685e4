"""The benchmark command: rows, stored results, comparisons, reports."""

import os
import sys

import numpy
import pytest
from helpers import programs

import acl
from acl.bench import collectives, command, compare, report, result, twin
from acl.bench.measure import Bench, Effort, measure
from acl.bench.rows import GROUPS, LIMITS, ROWS, Statement

ONCE = Effort(2, 0.0)
NAMES = [row.name for row in ROWS]
LIMIT_NAMES = [row.name for row in ROWS if row.group == LIMITS]
WITHOUT_TWIN = {"import_acl", "builtin"}
COLLECTIVES = [row for row in ROWS if row.group == collectives.GROUP]
SMALL = [case for case in collectives.CASES if case.size <= collectives.MIB]
needs_compiler = pytest.mark.skipif(twin.compiler() is None, reason="no C compiler")


def bench(*arguments, **options):
    return programs.run([sys.executable, "-m", "acl", "bench", *arguments], **options)


def made(title="made", shift=1.0, pairs=None, **samples):
    """Return a result of given samples, in seconds."""
    times = {name: [shift * each for each in values] for name, values in samples.items()}
    labels = {name: f"the row | {name}" for name in samples}
    return result.Result(title, result.about(), times, dict.fromkeys(samples, "runtime"), labels, {}, pairs)


# --- rows


def test_every_group_has_rows_with_names_and_labels():
    assert {row.group for row in ROWS} == set(GROUPS)
    assert len(set(NAMES)) == len(NAMES)
    assert all(row.label and not row.label.endswith(".") for row in ROWS)


@pytest.mark.needs_sim
def test_every_row_is_measured():
    said = []
    rows = [row for row in ROWS if row not in COLLECTIVES]
    names = [row.name for row in rows]
    found = measure(rows, ONCE, said.append)
    assert found.skipped == {} and list(found.samples) == names
    assert all(len(each) == 2 and min(each) > 0 for each in found.samples.values())
    assert said == ["round 1 of 2", "round 2 of 2"] and "gloo" not in found.about
    assert set(found.twins) == set(names) - WITHOUT_TWIN
    if twin.compiler() is not None:
        assert all(len(each) == 2 and min(each) > 0 for each in found.twins.values()), found.about["twins"]


@pytest.mark.needs_sim
def test_collectives_are_measured_on_several_devices(monkeypatch):
    monkeypatch.setattr(collectives, "find_spec", lambda name: None)
    rows = [row for row, case in zip(COLLECTIVES, collectives.CASES) if case in SMALL]
    found = measure(rows, Effort(1, 0.0), lambda text: None)
    assert found.skipped == {} and list(found.samples) == [row.name for row in rows]
    assert all(len(each) == 1 and each[0] > 0 for each in found.samples.values())
    compared = {case.name for case in SMALL if case.way == "streams" and case.ranks <= 4}
    assert found.twins == {name: [] for name in compared} and found.about["gloo"] == "not installed"
    assert collectives.ONE_PROCESS.users == 0


@pytest.mark.parametrize("way, number", [("streams", 60), ("queued", 1)])
def test_samples_of_collectives_are_short(way, number):
    case = collectives.Case("all_reduce", 4, "float32", 4, way)
    numbers = []

    class Ranks:
        def sample(self, case, number):
            numbers.append(number)
            return collectives.SECONDS / 60  # for one operation

    collectives.sampler(Ranks(), case)()
    assert numbers == [1, 1, number]


def test_rows_of_collectives_say_what_is_on_the_bus():
    named = {row.name: row for row in COLLECTIVES}
    assert list(named) == [case.name for case in collectives.CASES]
    assert named["all_reduce_4B_2"].bus == 4 and named["all_gather_1MiB_4"].bus == 0.75 * (1 << 20)
    row = named["all_reduce_float16_1MiB_4"]
    assert (row.label, row.bus) == ("All-reduce of 1 MiB, float16, 4 ranks, a stream each", 1.5 * (1 << 20))
    assert named["all_reduce_4B_4_queued"].label == "All-reduce of 4 B, float32, 4 ranks, 1,000 queued: each"


def test_the_ranks_report_what_they_cannot_do():
    stack = collectives.ExitStack()
    with stack, pytest.raises(RuntimeError, match="InvalidArgumentError: .*no device 8: 8 devices"):
        collectives.prepare(collectives.Case("all_reduce", 4, "float32", 9, "streams"), stack)


def test_a_table_has_gloo_and_the_bandwidth_of_the_bus(tmp_path):
    one = made(first=[1e-6], second=[2e-6], third=[4e-6], fourth=[1.0])
    one.groups.update(dict.fromkeys(("first", "second", "third"), collectives.GROUP))
    twins = {"first": [3e-6], "second": [], "fourth": [5e-6]}
    one = one._replace(twins=twins, bus={"first": 2000.0, "second": 1000.0, "third": 1e6})
    result.save(one, tmp_path / "made.json")
    stored = result.load(str(tmp_path / "made.json"))
    assert (stored.twins, stored.bus) == (one.twins, one.bus)
    head, *lines = report.table([stored])
    assert head[5:] == ["in C", "gloo", "bus GB/s"]
    assert [line[5:] for line in lines] == [
        ["", "3.00 µs", "2.00"], ["", "not installed", "0.50"], ["", "", "250.00"], ["5.00 µs", "", ""],
    ]  # fmt: skip
    about = {**one.about, "gloo": "that of torch 2.13.0"}
    assert "made: gloo is that of torch 2.13.0" in report.text([one._replace(about=about)])


def test_without_a_compiler_no_twin_is_built(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    row = next(row for row in ROWS if row.name == "get_device")
    found = measure([row], ONCE, lambda text: None)
    assert found.twins == {"get_device": []} and found.about["twins"] == "not built: no C compiler was found"
    one = made(get_device=found.samples["get_device"])._replace(twins=found.twins)
    assert [line[-1] for line in report.table([one])] == ["in C", "not built"]


@needs_compiler
def test_a_compiler_that_fails_is_reported(monkeypatch, tmp_path):
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho no headers; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("CC", str(program))
    assert twin.build() == (None, "not built: no headers")


def test_rows_leave_nothing_behind():
    rows = [row for row in ROWS if row.group in ("events", "capture")]
    with Bench(rows, ONCE):
        pass
    before = acl.sim.live() if acl.backend == "sim" else 0
    with Bench(rows, ONCE) as opened:
        assert list(opened.samplers) == [row.name for row in rows]
    assert not before or acl.sim.live() == before


def test_a_row_that_fails_is_left_out_with_its_reason():
    def refuse(stack):
        raise RuntimeError("107000: no such thing")

    row = ROWS[0]._replace(name="broken", prepare=refuse)
    with Bench([row, ROWS[0]], ONCE) as opened:
        assert opened.skipped == {"broken": "RuntimeError: 107000: no such thing"}
        assert list(opened.samplers) == [ROWS[0].name]


def test_a_row_whose_calls_fail_is_left_out():
    row = ROWS[0]._replace(name="broken", prepare=lambda stack: Statement("free(0)", {"free": acl.rt.free}))
    with Bench([row], ONCE) as opened:
        assert not opened.samplers and "aclrtFree" in opened.skipped["broken"]


# --- stored results


def test_a_stored_result_is_the_same_again(tmp_path):
    one = made(first=[1e-6, 2e-6, 4e-6], second=[3e-3])._replace(skipped={"third": "no card"}, pairs="1")
    one = one._replace(twins={"first": [1e-8, 2e-8, 3e-8], "second": []})
    result.save(one, tmp_path / "made.json")
    assert result.load(str(tmp_path / "made.json")) == one._replace(
        about={**one.about, "pairs": "1", "skipped": {"third": "no card"}}
    )


def test_pytest_benchmark_reads_a_stored_result(tmp_path):
    result.save(made(first=[1e-6, 2e-6, 4e-6], second=[3e-3]), tmp_path / "0001_made.json")
    command = [sys.executable, "-c", "from pytest_benchmark.cli import main; main()", "compare"]
    done = programs.run([*command, str(tmp_path / "0001_made.json"), "--columns=median,max,rounds"])
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(("first", "second"))]
    assert [line[0].split()[0] for line in lines] == ["first", "second"], done.stdout
    assert "2.0000" in done.stdout and "4.0000" in done.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file or directory"),
        ("{", "it does not hold a stored result"),
        ("[]", "it does not hold a stored result"),
        ('{"benchmarks": []}', "it has no 'machine_info'"),
        ('{"benchmarks": [], "machine_info": {}}', "it has no samples"),
        (
            '{"benchmarks": [{"name": "a", "stats": {"min": 1}}], "machine_info": {}}',
            "pytest-benchmark writes samples with --benchmark-save-data",
        ),
    ],
)
def test_files_that_are_no_results_are_refused(tmp_path, content, words):
    path = tmp_path / "made.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(result.Unreadable, match=words):
        result.load(str(path))


def test_the_package_brings_a_result_of_the_simulator():
    example = result.load("simulator")
    required = {row.name for row in ROWS if row not in COLLECTIVES}  # they depend on the number of cores
    assert example.about["backend"] == "sim" and required <= set(example.samples) <= set(NAMES)


# --- comparisons


@pytest.mark.parametrize(
    ("factor", "noise", "verdict"),
    [
        (1.0, 0.001, "same"),
        (1.5, 0.01, "slower"),
        (0.5, 0.01, "faster"),
        (1.03, 0.001, "unclear"),
        (1.0, 2.0, "unclear"),
    ],
)
def test_verdicts(factor, noise, verdict):
    random = numpy.random.default_rng(3)
    one, two = (list(1e-6 * scale * numpy.exp(noise * random.standard_normal(41))) for scale in (1.0, factor))
    found = compare.ratio(one, two)
    assert found.verdict == verdict, found
    assert found.low <= found.value <= found.high
    assert compare.ratio(one, two) == found


def test_pairs_do_not_depend_on_what_disturbs_both():
    random = numpy.random.default_rng(4)
    load = numpy.exp(random.standard_normal(41))  # of the machine, from sample to sample
    one, two = list(1e-6 * load), list(1.1e-6 * load)
    assert compare.ratio(one, two).verdict == "unclear"
    paired = compare.ratio(one, two, paired=True)
    assert paired.verdict == "slower" and paired.value == pytest.approx(1.1)
    assert compare.ratios([made(pairs="1", row=one), made(pairs="1", row=two)], "row") == [paired]
    assert compare.ratios([made(pairs="1", row=one), made(pairs="2", row=two)], "row") != [paired]


def test_samples_of_no_time_have_no_interval():
    found = compare.ratio([0.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    assert (found.low, found.verdict) == (0.0, "unclear")


# --- reports


def test_durations():
    shown = [report.duration(each) for each in (0.0, 1.234e-9, 12.34e-9, 999.4e-9, 1e-6, 0.0123, 2)]
    assert shown == ["0.00 ns", "1.23 ns", "12.3 ns", "999 ns", "1.00 µs", "12.3 ms", "2.00 s"]


def test_a_table_has_medians_ratios_and_verdicts():
    head, *lines = report.table([made("a", row=[2e-6] * 3, other=[1.0]), made("b", 2.0, row=[2e-6] * 3)])
    assert head[3:] == ["a: median", "p99", "b: median", "p99", "b / a", "95 % interval", "verdict"]
    assert lines == [
        ["runtime", "row", "the row | row", *["2.00 µs"] * 2, *["4.00 µs"] * 2, "2.00", "2.00 to 2.00", "slower"]
    ]
    assert "a: the others lack other" in report.text([made("a", row=[1.0], other=[1.0]), made("b", row=[1.0])])


def test_results_of_one_title_are_told_apart():
    assert report.names_of([made("a"), made("a")]) == [f"a ({acl.backend}) 1", f"a ({acl.backend}) 2"]
    assert report.names_of([made("a"), made("b")]) == ["a", "b"]


def test_markdown_and_html():
    results = [made("a", row=[1e-6, 2e-6]), made("b", 3.0, row=[1e-6, 2e-6])]
    lines = report.markdown(results).splitlines()
    assert len({line.replace("\\|", "").count("|") for line in lines[:3]}) == 1 and "the row \\| row" in lines[2]
    page = report.html(results)
    assert page.count("<tr>") == 2 and page.count("<rect") == 2 and '<td class="slower">' in page
    assert "http" not in page  # it needs no other file


# --- the command


def test_the_rows_are_listed(capsys):
    assert command.run(["--list", "--group", "events"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        [row.group, row.name] for row in ROWS if row.group == "events"
    ]


def test_a_group_is_named_like_a_row(capsys):
    assert command.run(["--list", "events", "get_device", "collectives"]) == 0
    listed = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert listed == ["event", "record_sync", "hop", *(row.name for row in COLLECTIVES), "get_device"]


def test_measure_save_and_compare(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    done = bench("--quick", "get_device", "event", "--save", "before.json")
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[1:8]] == ["event", "get_device", *LIMIT_NAMES]
    assert "saved before.json" in done.stdout and "now: median" in done.stdout
    assert command.run(["--quick", "get_device", "--compare", "before.json", "-o", "now.md", "--save", "now.json"]) == 0
    shown = capsys.readouterr().out
    assert "now / before" in shown and "before: the others lack event" in shown
    assert (tmp_path / "now.md").read_text().startswith("| group | row | what | before: median |")
    assert command.run(["--compare", "before.json", "now.json", "-o", "report.html"]) == 0
    assert "now / before" in capsys.readouterr().out and "<svg" in (tmp_path / "report.html").read_text()
    assert set(os.listdir(tmp_path)) == {"before.json", "now.json", "now.md", "report.html"}


def test_two_backends_in_turn(tmp_path):
    done = bench("--quick", "get_device", "--against", "sim", "--save", "both.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "95 % interval" in done.stdout
    stored = [result.load(str(path)) for path in sorted(tmp_path.iterdir())]
    assert sorted(each.about["backend"] for each in stored) == sorted([acl.backend, "sim"])
    assert stored[0].pairs is not None and stored[0].pairs == stored[1].pairs
    assert all({len(each) for each in one.twins.values()} <= {0, len(one.samples["wake"])} for one in stored)
    assert all("get_device" in one.twins for one in stored)


def test_stored_results_are_compared_without_a_library(tmp_path):
    old = made(first=[1e-6, 2e-6])  # as files of versions without twins
    result.save(old, tmp_path / "old.json")
    result.save(old._replace(twins={"first": [1e-8, 1e-8]}), tmp_path / "new.json")
    environment = programs.environment({"ACL_BACKEND": None, "LD_DEBUG": "files"})
    done = bench("--compare", "old.json", "new.json", cwd=tmp_path, env=environment)
    assert done.returncode == 0 and "libacl_sim" not in done.stderr and "no NPU" not in done.stderr
    assert done.stdout.splitlines()[0].count("in C") == 1 and "10.0 ns" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no_such_row"], "no row is called no_such_row; --list shows all"),
        (["--compare", "/nonexistent/a.json", "b.json"], "/nonexistent/a.json: No such file or directory"),
        (["--compare", "simulator", "simulator", "--save", "a.json"], "--save has nothing to store"),
        (["--list", "-o", "table.pdf"], "-o is table.pdf, expected a file that ends with .txt, .md, .html"),
    ],
)
def test_wrong_arguments_have_a_sentence(arguments, words, capsys):
    assert command.run(arguments) == 1
    assert words in capsys.readouterr().err


def test_results_without_a_common_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        result.save(made(name, **{name: [1.0]}), tmp_path / f"{name}.json")
    assert command.run(["--compare", "a.json", "b.json"]) == 1
    assert "no row was measured in all results" in capsys.readouterr().err
