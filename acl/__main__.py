"""The command line: ``python -m acl COMMAND``, or ``ascendcl COMMAND``."""

import argparse
import os
import sys

import acl
from acl import _lib, abi, files

MEMORY_ATTRIBUTES = (("DDR", _lib.lib.ACL_DDR_MEM), ("HBM", _lib.lib.ACL_HBM_MEM))


def fail(text):
    """Print an error on stderr and return the exit code."""
    print(f"acl: {text}", file=sys.stderr)
    return 1


class Failed(Exception):
    """A command cannot do its work; the text says why."""


def parsed(args, read):
    """Return what ``read`` makes of the file ``args.trace``."""
    try:
        with open(args.trace, encoding="utf-8-sig", errors="replace") as file:
            return read(file.read())
    except OSError as error:
        raise Failed(f"{args.name}: cannot read {args.trace}: {error.strerror}") from None
    except ValueError as error:
        raise Failed(f"{args.name}: {args.trace} {error}") from None


def write(args, content):
    """Write the file ``args.output``."""
    try:
        files.write(args.output, content)
    except OSError as error:
        raise Failed(f"{args.name}: cannot write {args.output}: {error.strerror}") from None


def missing():
    """Return the declared functions that the opened library lacks, or that have no behaviour in the simulator."""
    names = {name for name in abi.load().functions if not _lib.present(name)}
    if acl.is_simulator:
        from acl import sim

        names.update(sim.missing())
    return names


def info(args):
    """Print what is in use: backend, library, SoC, devices, memory, versions."""
    print(f"backend    {acl.backend}{' (simulator)' if acl.is_simulator else ''}")
    print(f"library    {acl.library_path}")
    print(f"toolkit    {_lib.toolkit or 'none'}")
    print(f"soc        {acl.get_soc_name()}")
    version, ret = acl.get_cann_version(_lib.lib.ACL_PKG_NAME_RUNTIME)  # every version has this call
    major, minor, patch, _ = acl.get_version()
    print(f"version    CANN {version['version'] if ret == 0 else 'unknown'}, interface {major}.{minor}.{patch}")
    count, ret = acl.rt.get_device_count()
    if ret != 0:
        return fail(f"aclrtGetDeviceCount failed with {ret}: {acl.get_recent_err_msg()}")
    print(f"devices    {count}")
    for device in range(count):
        ret = acl.rt.set_device(device)
        if ret != 0:
            return fail(f"aclrtSetDevice({device}) failed with {ret}: {acl.get_recent_err_msg()}")
        for name, attribute in MEMORY_ATTRIBUTES:
            free, total, ret = acl.rt.get_mem_info(attribute)
            if ret == 0 and total:
                print(f"device {device}   {name} {free / 2**30:.2f} GiB free of {total / 2**30:.2f} GiB")
        acl.rt.reset_device(device)
    return 0


def abi_counts(args):
    """Print how many declared functions have behaviour, or the names of those without."""
    print(abi.abi_command(abi.load().functions.values(), missing(), args.missing, args.json))
    if acl.is_simulator and not args.missing and not args.json:
        from acl import sim

        print(f"operators: {sim.operators()}, with a kernel: {sim.operators(implemented=True)}")
    return 0


def ops(args):
    """Print the operators with kernel, first version, types and formula; or one operator in detail."""
    from acl import operators
    from acl.objects import op_function

    found = operators.named(args.operator) if args.operator else list(operators.load().values())
    if not found:
        close = op_function.names_like(args.operator)
        return fail(f"ops: no operator {args.operator!r}" + (f", did you mean {close}?" if close else ""))
    print(operators.ops_command(found, bool(args.operator), args.missing, args.json))
    return 0


def config(args):
    """Print compiler and linker flags, or directories, in the order of the options."""
    texts = {
        "cflags": f"-I{acl.get_include()}",
        "libs": f"-L{acl.get_lib()} -Wl,-rpath,{acl.get_lib()} -lascendcl",
        "include": acl.get_include(),
        "lib": acl.get_lib(),
        "prefix": acl.toolkit_path(),
    }
    if not args.what:
        return fail(f"config needs at least one of {', '.join(f'--{what}' for what in texts)}")
    print(" ".join(texts[what] for what in args.what))
    return 0


# Options of exec that are settings of the simulator, with their placeholders and help.
EXEC_SETTINGS = {
    "soc": ("SOC", "the simulated SoC, such as Ascend310P3"),
    "devices": ("N", "the number of simulated devices"),
    "check": ("NAMES", "what checkers look for: all, or names such as race,leak"),
    "findings": ("FILE", "where checkers write, instead of stderr: text, or by the end of the name .json or .sarif"),
    "suppress": ("FILE", "findings to leave out"),
    "on_finding": ("ACTION", "continue, raise or abort"),
    "watchdog": ("TIME", "report all waits when nothing has happened for so long, such as 30s"),
    "trace": ("FILE", "write a timeline for Perfetto; %%p in the name stands for the number of the process"),
}

EXPLORE_SETTINGS = {name: EXEC_SETTINGS[name] for name in ("soc", "devices", "check", "suppress")}


def given(args, settings):
    """Return the settings that the options of a command have set."""
    return {name: value for name in settings if (value := getattr(args, name)) is not None}


def execute(args):
    """Run a program against the simulator, or with --backend npu against the libraries of a toolkit."""
    from acl import program

    try:
        path, command = program.find(args.command)
        environment = program.environment(given(args, EXEC_SETTINGS), args.backend, args.record)
    except ValueError as error:
        return fail(f"exec: {error}")
    sys.stdout.flush()
    os.execve(path, command, environment)


def explore(args):
    """Run a program under many schedules, and shrink the first one under which it behaves differently."""
    from acl import explore as program

    settings = given(args, EXPLORE_SETTINGS)
    try:
        return program.command(args.command, settings, args.runs, args.reference, args.timeout, args.output)
    except program.Refused as error:
        fail(f"explore: {error}")
        return 2


def toolkit(args):
    """Write the simulator into a directory as a toolkit, so that build systems find it."""
    from acl import layout

    try:
        layout.write(args.directory, debug=args.debug)
    except layout.Refused as error:
        return fail(f"toolkit: {error}")
    except OSError as error:
        return fail(f"toolkit: cannot write {error.filename or args.directory}: {error.strerror}")
    print(f"source {os.path.join(os.path.abspath(args.directory), 'set_env.sh')}")
    return 0


def doctor(args):
    """Report which backends this host has, which one is in use and why, and what is wrong."""
    from acl import doctor as program

    return program.run(args.headers)


def demo(args):
    """Run the examples and compare their output with the expected one."""
    from acl import demo as program

    return program.run()


def graph(args):
    """Draw the output of aclmdlRIDebugJsonPrint as SVG or PNG: streams, tasks, events, data, possible races."""
    from acl import graph as picture
    from acl import trace

    tasks, streams = parsed(args, trace.read)
    order = trace.replay(tasks)
    svg = picture.draw(tasks, streams, order.rows, order.edges + trace.data(tasks, order.rows, order.before))
    if args.output is None:
        print(svg, end="")
        return 0
    content = svg.encode()
    try:
        if args.output.lower().endswith(".png"):
            content = picture.png_of(svg)
        elif os.path.splitext(args.output)[1].lower() in picture.OTHER_FORMATS:
            return fail(f"graph: cannot write {args.output}: the formats are SVG, and PNG with the package cairosvg")
    except (ImportError, OSError) as error:
        return fail(f"graph: cannot write {args.output}: {error}")
    write(args, content)
    return 0


def report(args):
    """Write a trace of the simulator as a page: timeline, device memory, top tasks, failed calls, findings."""
    from acl.report import page, read

    trace = parsed(args, read.read)
    write(args, page.html(trace, os.path.basename(args.trace)))
    print(f"wrote {args.output}")
    return 0


def atc(args):
    """Compile an ONNX file to a model file (.om), with the flags of the vendor's compiler."""
    from acl import atc as compiler

    try:
        compiler.run(args.arguments)
    except (compiler.Refused, ImportError) as error:
        return fail(f"atc: {error}")
    return 0


def diff(args):
    """Compare two recordings of calls: print the first difference in context, and a summary."""
    from acl import record_diff

    return record_diff.run(args.first, args.second, args.ignore, args.ignore_values)


def bench(args):
    """Measure calls and operators; save and compare results."""
    from acl.bench import command

    return command.run(args.arguments)


class Version(argparse.Action):
    """Print the version of the package, and the backend with its library."""

    def __call__(self, parser, namespace, values, option=None):
        """Print and exit."""
        from importlib import metadata

        print(f"ascendcl {metadata.version('ascendcl')} ({acl.backend}: {acl.library_path})")
        parser.exit()


def count_of_runs(text):
    """Return a number of runs, or raise ValueError."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def parser():
    """Return the argument parser of all commands."""
    top = argparse.ArgumentParser(prog="ascendcl", description="AscendCL for Python, and a simulator of its C library.")
    top.add_argument("--version", action=Version, nargs=0, help="print the version of the package and exit")
    commands = top.add_subparsers(dest="name", metavar="COMMAND", required=True)

    def add(name, function, **options):
        command = commands.add_parser(name, help=function.__doc__.splitlines()[0], **options)
        command.set_defaults(function=function)
        return command

    add("info", info)
    counts = add("abi", abi_counts)
    counts.add_argument("--missing", action="store_true", help="list the functions without behaviour")
    counts.add_argument("--json", action="store_true", help="print JSON")
    table = add("ops", ops)
    table.add_argument("operator", nargs="?", metavar="NAME", help="one operator in detail, such as aclnnAdd or add")
    table.add_argument("--missing", action="store_true", help="list the operators without a kernel, and why")
    table.add_argument("--json", action="store_true", help="print JSON")
    flags = add("config", config)
    for what in ("cflags", "libs", "include", "lib", "prefix"):
        flags.add_argument(f"--{what}", dest="what", action="append_const", const=what)

    def add_program(name, function, settings):
        command = add(name, function)
        for setting, (placeholder, text) in settings.items():
            command.add_argument("--" + setting.replace("_", "-"), metavar=placeholder, help=text)
        command.add_argument("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM ...")
        return command

    program = add_program("exec", execute, EXEC_SETTINGS)
    program.add_argument("--backend", choices=("sim", "npu"), default="sim", help="npu: the libraries of a toolkit")
    program.add_argument("--record", metavar="FILE", help="write each AscendCL call; %%p stands for the process number")
    runs = add_program("explore", explore, EXPLORE_SETTINGS)
    runs.add_argument("--runs", type=count_of_runs, default=200, metavar="N", help="how many schedules (default: 200)")
    runs.add_argument("--reference", choices=("eager", "parallel"), default="eager", help="what they are compared with")
    runs.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="for each run (default: 60)")
    runs.add_argument(
        "--output", default="schedule.txt", metavar="FILE", help="where the schedule is written (default: schedule.txt)"
    )
    kit = add("toolkit", toolkit)
    kit.add_argument("--debug", action="store_true", help="with libraries for gdb, built from the source tree")
    kit.add_argument("directory", metavar="DIR")
    add("doctor", doctor).add_argument("--headers", action="store_true", help="compare a toolkit's headers with ours")
    add("demo", demo)
    drawing = add("graph", graph)
    drawing.add_argument("trace", metavar="JSON")
    drawing.add_argument("-o", dest="output", metavar="FILE", help="an .svg or .png file (default: print SVG)")
    summary = add("report", report)
    summary.add_argument("trace", metavar="JSON", help="a file that exec --trace or ACL_SIM_TRACE wrote")
    summary.add_argument("-o", dest="output", metavar="FILE", default="report.html", help="default: report.html")
    comparison = add("diff", diff)
    comparison.add_argument("first", metavar="A")
    comparison.add_argument("second", metavar="B")
    comparison.add_argument("--ignore-values", action="store_true", help="leave out what the buffers of the host hold")
    comparison.add_argument(
        "--ignore", action="append", default=[], metavar="CALL[.NAME]",
        help="leave out calls, or an argument or output of calls; * stands for any characters",
    )  # fmt: skip
    add("atc", atc, add_help=False)
    add("bench", bench, add_help=False)
    return top


def run(arguments):
    """Run one command and return its exit code."""
    commands = parser()
    args, others = commands.parse_known_args(arguments)
    if others and args.function not in (atc, bench):
        commands.error(f"unrecognized arguments: {' '.join(others)}")
    args.arguments = others
    try:
        return int(args.function(args) or 0)
    except Failed as failure:
        return fail(failure)


def main(arguments=None):
    """Run one command and return its exit code; if the reader closes the pipe early, as head does, exit quietly."""
    try:
        try:
            return run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the flush at exit succeeds
        return 0


if __name__ == "__main__":
    sys.exit(main())
