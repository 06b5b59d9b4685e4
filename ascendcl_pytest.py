"""The pytest plugin ``ascendcl``: devices and streams for tests, and what the simulator's checkers find in each test.

It is a module of its own, outside of the package, because pytest imports it in every project of the environment:
``acl`` is imported when a test first uses it. Another package named ``acl`` may also come first on the path.

The option ``--acl-check`` becomes ``ACL_SIM_CHECK``, before any module of the project is imported, because the checkers
can only change while no device is open. They stay on for the whole run, and for programs that tests start. A marker
``acl_check`` gives one test its own checkers, by a reset of the simulator before and after it.

:class:`Checks` is registered when checkers are on. It takes the findings after the test's function, whose failure they
become, and after the teardown. A reset forgets findings, so that hooks take them before and after each reset.

The markers ``acl_fault`` and ``acl_every_fault`` let calls of the test's function fail, but not those of its fixtures.
The marker ``acl_schedule`` makes one test of each schedule: the parameter ``_acl_schedule``, which ``acl_sim`` reads.
"""

import contextlib
import gc
import os
from types import SimpleNamespace

import pytest

CHECKS = ("memory", "race", "init", "sync", "leak", "deadlock")
VARIABLE = "ACL_SIM_CHECK"
SCHEDULE = "_acl_schedule"  # the parameter of a test with the marker acl_schedule
MARKERS = (
    "acl_check(name, ...): the simulator starts anew for this test, with these checkers on; without names, with all",
    "acl_every_fault(target, ...): runs the test once per call that can fail, and that call fails in that run; errors "
    "are allowed, what is left behind is not; a target such as malloc only takes its calls",
    "acl_fault(fault, ...): these faults, such as malloc:3, are in force in the test; each of them must strike",
    "acl_schedule(name, ..., seeds=10): the test runs once per schedule: lazy, eager, parallel, or random with "
    "so many seeds; the simulator starts anew for each",
    "finds(name, count=1): the checkers must find this in the test; a rule such as use-after-free, or a checker's name",
    "needs_npu: needs a card; skipped on the simulator",
    "needs_sim: uses the control interface of the simulator; skipped for ACL_BACKEND=npu",
)


def _names(text):
    """Return the names of checkers in a text with commas, or raise ValueError for an unknown one."""
    names = [name.strip() for name in text.split(",")]
    wrong = [name for name in names if name not in CHECKS]
    if wrong and names not in (["all"], ["none"]):
        raise ValueError(f"no checker {wrong[0]!r}: expected all, none, or some of {', '.join(CHECKS)}")
    return ",".join(names)


# ---- options and markers


def pytest_addoption(parser):
    """Add the option ``--acl-check``."""
    group = parser.getgroup("ascendcl", "AscendCL")
    group.addoption(
        "--acl-check",
        metavar="NAMES",
        help="what the simulator's checkers look for in each test: all, none, or names such as race,leak; a test fails "
        f"with what they find (default: the variable {VARIABLE})",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Set the variable before a module of the project opens a device."""
    names = early_config.known_args_namespace.acl_check
    if names is None:
        return
    try:
        names = _names(names)
    except ValueError as error:
        raise pytest.UsageError(f"--acl-check: {error}") from None
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = names

    def restore():
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before

    early_config.add_cleanup(restore)


def pytest_configure(config):
    """Register the markers and, if checkers are on, the class that collects findings."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.pluginmanager.register(Summary(), "ascendcl-summary")
    if os.environ.get(VARIABLE, "none") != "none":
        _checks(config)


def _acl():
    import acl

    if not hasattr(acl, "is_simulator"):
        raise pytest.UsageError(f"the module acl is {acl.__file__}, which is not that of ascendcl")
    return acl


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip a test that needs another backend, and give one with ``acl_check`` a simulator of its own."""
    for mark in item.iter_markers():
        if mark.name == "needs_sim" and _acl().backend != "sim":
            pytest.skip("needs_sim: ACL_BACKEND=npu has no control interface")
        if mark.name == "needs_npu" and _acl().is_simulator:
            pytest.skip("needs_npu: there is no card")
        if mark.name in ("acl_check", "acl_schedule"):
            names = getattr(item, "fixturenames", None)
            if names is None or (mark.name == "acl_schedule" and _schedule(item) is None):
                pytest.fail(f"{mark.name} needs a test function", pytrace=False)
            if "acl_sim" not in names:
                names.insert(0, "acl_sim")


# ---- schedules


def _schedules(*names, seeds=10):
    """Return the schedules that the arguments of a marker name."""
    known = ("lazy", "random", "eager", "parallel")
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        raise ValueError(f"no schedule {', '.join(map(repr, wrong))}: expected some of {', '.join(known)}")
    randoms = [f"random:{seed}" for seed in range(seeds)]
    return [schedule for name in names for schedule in (randoms if name == "random" else [name])]


def pytest_generate_tests(metafunc):
    """Make one test of each schedule that a marker names."""
    mark = metafunc.definition.get_closest_marker("acl_schedule")
    if mark is None:
        return
    try:
        schedules = _schedules(*mark.args, **mark.kwargs)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: acl_schedule: {error}") from None
    metafunc.fixturenames.append(SCHEDULE)
    metafunc.parametrize(SCHEDULE, schedules, indirect=True)


def _schedule(item):
    """Return the schedule of a test that has one, or None."""
    return item.callspec.params.get(SCHEDULE) if hasattr(item, "callspec") else None


# ---- fixtures


def _use(request):
    """Note that a test has used the package, for the summary, and return the package."""
    acl = _acl()
    request.node._acl_used = _label(acl)
    return acl


def _label(acl):
    try:
        chip = acl.get_soc_name()
    except Exception:
        chip = None
    return ", ".join(filter(None, ("simulator" if acl.is_simulator else "card", chip)))


@pytest.fixture
def acl_sim(request):
    """Start the simulator anew for this test, and again after it; the value is :mod:`acl.sim`.

    The test is skipped where the backend has no control interface. Its own fixtures and those of its module must not
    keep handles or memory from before.
    """
    acl = _use(request)
    if acl.backend != "sim":
        pytest.skip("acl_sim: ACL_BACKEND=npu has no control interface")
    mark = request.node.get_closest_marker("acl_check")
    acl.sim.reset()
    schedule = _schedule(request.node)
    if schedule is not None:
        acl.sim.configure(schedule=schedule)
    if mark is not None:
        try:
            names = _names(",".join(mark.args) or "all")
        except ValueError as error:
            pytest.fail(f"acl_check: {error}", pytrace=False)
        acl.sim.configure(check=names)
        _checks(request.config).begin()
    yield acl.sim
    if acl.sim.get_config("check") != "none":
        acl.init()  # finalising reports leaks, and a reset does not
        acl.finalize()
    acl.sim.reset()


@pytest.fixture
def acl_device(request):
    """Make a device current, and reset it after the test: an :class:`acl.Device`.

    It is device 0. On hosts with several cards, the workers of pytest-xdist share them out.
    """
    acl = _use(request)
    if "acl_sim" in request.fixturenames:
        request.getfixturevalue("acl_sim")  # before the device, which its reset would close
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]
    # Each process has a simulator of its own, so that workers share nothing.
    share = int(worker) if worker.isdigit() and acl.backend == "npu" else 0
    device = acl.Device(share % max(acl.Device.count(), 1))
    device.use()
    yield device
    device.reset()


@pytest.fixture
def npu():
    """Give PyTorch's NPU, ``torch.device("npu:0")``, and wait for its work after the test.

    The test is skipped where PyTorch has no NPU: without torch_npu, or without the libraries that it needs.
    """
    try:
        import torch
        import torch_npu  # noqa: F401 (registers the device)
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"PyTorch has no NPU: {error}; without a card, run: ascendcl exec -- python -m pytest")
    device = torch.device("npu:0")
    yield device
    torch.npu.synchronize(device)


@pytest.fixture
def acl_stream(acl_device):
    """Make an :class:`acl.Stream`; it is synchronised and closed after the test."""
    import acl

    stream = acl.Stream()
    yield stream
    stream.close()  # waits for its work, and raises the error of failed work


# ---- faults


def _simulator(item, marker):
    """Return acl.sim, or skip the test where there is none."""
    acl = _acl()
    if acl.backend != "sim":
        pytest.skip(f"{marker}: ACL_BACKEND=npu has no control interface")
    item._acl_used = _label(acl)
    return acl.sim


def _faults(sim, marker, texts):
    """Return the faults as a context; a wrong text is the test's failure."""
    faults = sim.faults(*texts)
    try:
        with faults:
            pass
    except ValueError as error:
        pytest.fail(f"{marker}: {error}", pytrace=False)
    return faults


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Call the function of a test with faults."""
    every = pyfuncitem.get_closest_marker("acl_every_fault")
    some = [text for mark in pyfuncitem.iter_markers("acl_fault") for text in mark.args]
    if every is None and not some:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    if every is not None:
        _with_every_fault(pyfuncitem, every.args or ("any",), arguments)
        return True
    sim = _simulator(pyfuncitem, "acl_fault")
    with _faults(sim, "acl_fault", some) as faults:
        pyfuncitem.obj(**arguments)
    idle = [fault for fault in faults.counts() if not fault.struck and "p=" not in fault.text]
    if idle:
        lines = [f"{fault.text!r} has not struck; it has counted {fault.counted} calls or tasks" for fault in idle]
        pytest.fail("\n".join(["acl_fault:", *lines]), pytrace=False)
    return True


def _left(sim):
    gc.collect()
    return sim.live()


def _with_every_fault(item, targets, arguments):
    """Run a test as it is, and then once per call that can fail."""
    sim = _simulator(item, "acl_every_fault")
    for target in targets:
        _faults(sim, "acl_every_fault", [f"{target}:1"])
        item.obj(**arguments)
        before, number, struck = _left(sim), 0, True
        while struck:
            number += 1
            text, raised = f"{target}:{number}", "nothing was raised"
            with sim.faults(text) as faults:
                try:
                    item.obj(**arguments)
                except Exception as error:
                    raised = f"{type(error).__name__} was raised: {error}"
                    with contextlib.suppress(AttributeError):
                        error.__traceback__ = None  # its frames keep objects alive
            struck = faults.struck > 0
            after = _left(sim)
            if after > before:
                pytest.fail(
                    f"acl_every_fault: with the fault {text!r}, {after - before} handles and blocks of memory more are "
                    f"alive after the test than after a run without faults; {raised}",
                    pytrace=False,
                )


# ---- findings


def _checks(config):
    """Return the collector of findings; it is made at the first use."""
    checks = config.pluginmanager.get_plugin("ascendcl-checks")
    if checks is None:
        checks = Checks()
        config.pluginmanager.register(checks, "ascendcl-checks")
    return checks


def _announced(item):
    """Return how often each name must be found: None stands for any number."""
    announced = {}
    for mark in item.iter_markers("finds"):
        for name in mark.args:
            both = announced.get(name, 0), mark.kwargs.get("count", 1)
            announced[name] = None if None in both else sum(both)
    return announced


class Checks:
    """Takes the findings of each test, and makes a test fail that has others than it announces."""

    def __init__(self):
        self.sim = None  # the module acl.sim; None: it is not used yet, or there is no simulator
        self.test = None

    # --- taking findings

    def open(self):
        """Import the package once; from then on resets report to this."""
        if self.sim is not None or not _acl().is_simulator or _acl().backend != "sim":
            return
        from acl import _hooks, sim

        self.sim = sim
        wanted = os.environ.get(VARIABLE, "none")
        if wanted != "none" and sim.get_config("check") != wanted:
            sim.configure(check=wanted)  # the library was used before the option was read
        _hooks.simulator_resetting.register(self.take)
        _hooks.simulator_reset.register(self.start_anew)

    def begin(self):
        """Begin a test: what is found from here on is its own, also if another test had the same finding."""
        self.open()
        self.test = SimpleNamespace(found=[], seen=0, fresh=0, checks="none", passed=False)
        if self.sim is None:
            return
        self.test.checks = self.sim.get_config("check")
        self.sim.forget_findings()

    def take(self):
        """Take what was found since the last call."""
        test = self.test
        if self.sim is None or test is None:
            return
        found = self.sim.findings()
        if len(found) < test.seen:  # the test has forgotten the others
            test.seen = 0
        test.found += found[test.seen :]
        test.seen = len(found)

    def start_anew(self):
        """Take what a reset itself has found, which has forgotten the others."""
        if self.test is not None:
            self.test.seen = 0
            self.take()

    # --- judging a test

    def fresh(self):
        """Return the findings that were not judged yet."""
        self.take()
        fresh = self.test.found[self.test.fresh :]
        self.test.fresh = len(self.test.found)
        return fresh

    def unexpected(self, item):
        """Return the findings that were not judged yet, and that the test does not announce."""
        announced = _announced(item)
        return [found for found in self.fresh() if found.rule not in announced and found.check not in announced]

    def missing(self, item):
        """Return a line for each name that was not found as often as announced."""
        lines = []
        on = CHECKS if self.test.checks == "all" else self.test.checks.split(",")
        for name, count in _announced(item).items():
            if on == ["none"] or (name in CHECKS and name not in on):
                continue  # the checkers that would find it are off
            times = sum(name in (found.rule, found.check) for found in self.test.found)
            if times == 0 or count not in (None, times):
                lines.append(f"{name!r} is announced {count or 'some'} times, and was found {times} times")
        return lines

    def judge(self, item, last=False):
        """Fail with what is wrong, if anything is."""
        wrong = [str(found) for found in self.unexpected(item)]
        if last and self.test.passed:
            wrong += self.missing(item)
        if wrong:
            pytest.fail("\n".join(["acl: the checkers report:", *wrong]), pytrace=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        """Begin a test, before its fixtures."""
        self.begin()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item):
        """Judge a test whose function has returned."""
        if self.test is not None:
            self.judge(item)
            self.test.passed = True

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item):
        """Judge it again when its fixtures have ended."""
        if self.test is not None:
            self.judge(item, last=True)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Show the findings of a test that has failed by itself, and count them for the summary."""
        outcome = yield
        report, test = outcome.get_result(), self.test
        if test is None:
            return
        if report.failed:
            raised = getattr(getattr(call.excinfo, "value", None), "findings", ())  # of a FindingError
            others = [found for found in self.unexpected(item) if found not in raised]
            if others:
                report.sections.append(("acl findings", "\n".join(map(str, others))))
        if report.when == "teardown":
            self.take()
            if self.sim is not None:
                item._acl_used = getattr(item, "_acl_used", None) or _label(_acl())
                item._acl_found = (test.checks, len(test.found))


class Summary:
    """The line at the end; with pytest-xdist, the workers' reports bring what it needs."""

    def __init__(self):
        self.labels = set()
        self.checks = set()
        self.found = 0

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item):
        """Note on the last report of a test what it has used and what was found."""
        outcome = yield
        used = getattr(item, "_acl_used", None)
        report = outcome.get_result()
        if used and report.when == "teardown":
            checks, found = getattr(item, "_acl_found", ("none", 0))
            report.acl_summary = [used, checks, found]

    def pytest_runtest_logreport(self, report):
        """Collect the notes."""
        noted = getattr(report, "acl_summary", None)
        if noted:
            self.labels.add(noted[0])
            self.checks.add(noted[1])
            self.found += noted[2]

    def pytest_terminal_summary(self, terminalreporter):
        """Write ``acl: simulator, Ascend910B3, checks race,leak: 2 findings``."""
        if not self.labels:
            return
        on = {name for checks in self.checks - {"none"} for name in checks.split(",")}
        names = "all" if "all" in on else ",".join(name for name in CHECKS if name in on)
        count = f"{self.found or 'no'} finding{'' if self.found == 1 else 's'}"
        text = "; ".join(sorted(self.labels))
        terminalreporter.write_line(f"acl: {text}, checks {names}: {count}" if names else f"acl: {text}")
