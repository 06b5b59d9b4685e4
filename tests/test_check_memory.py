"""The checker of memory: faulty programs, each beside the same program without the fault."""

import pytest
from helpers.checked import findings_of
from helpers.models import Dataset, initialise, load
from helpers.programs import environment, run, run_script

import acl

pytestmark = pytest.mark.needs_sim

START = """
import acl, contextlib, numpy
acl.sim.configure(check="memory", memory="1G")
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
host, _ = acl.rt.malloc_host(4096)
block, _ = acl.rt.malloc(100, 0)
other, _ = acl.rt.malloc(4096, 0)
pointer = lambda array: array.ctypes.data
plain = numpy.zeros(4096, "u1")
sync = lambda: acl.rt.synchronize_stream(stream)

@contextlib.contextmanager
def held():
    acl.sim.hold(stream)
    yield
    acl.sim.release(stream)

"""
FIRST = START.count("\n") + 1  # the number of a program's first line

BEYOND = "beyond-requested-size"
AFTER = "use-after-free"
IN_USE = "freed-in-use"
INVALID = "invalid-free"
DIRECTION = "copy-direction"

# Rule, faulty program, right program.
PROGRAMS = [
    # bytes behind the requested ones
    (BEYOND, "acl.rt.memset(block, 120, 0, 101)", "acl.rt.memset(block, 120, 0, 100)"),
    (BEYOND, "acl.rt.memset_async(block, 128, 0, 128, stream); sync()",
     "acl.rt.memset_async(block, 128, 0, 100, stream); sync()"),
    (BEYOND, "acl.rt.memcpy(block, 112, host, 112, 1)", "acl.rt.memcpy(block, 112, host, 100, 1)"),
    (BEYOND, "acl.rt.memcpy(host, 4096, block, 104, 2)", "acl.rt.memcpy(host, 4096, block, 96, 2)"),
    (BEYOND, "acl.rt.memcpy_async(block + 4, 99, host, 97, 1, stream); sync()",
     "acl.rt.memcpy_async(block + 4, 99, host, 96, 1, stream); sync()"),
    (BEYOND, "acl.rt.memcpy_async(other, 4096, block, 101, 3, stream); sync()",
     "acl.rt.memcpy_async(other, 4096, block, 100, 3, stream); sync()"),
    (BEYOND, "small, _ = acl.rt.malloc_host(10); acl.rt.memcpy_async(other, 4096, small, 11, 1, stream); sync()",
     "small, _ = acl.rt.malloc_host(10); acl.rt.memcpy_async(other, 4096, small, 10, 1, stream); sync()"),
    (BEYOND, "acl.rt.memcpy(block + 99, 9, pointer(plain), 2, 1)",
     "acl.rt.memcpy(block + 99, 9, pointer(plain), 1, 1)"),
    # freed memory
    (AFTER, "acl.rt.free(block); acl.rt.memset(block, 100, 0, 100)",
     "acl.rt.memset(block, 100, 0, 100); acl.rt.free(block)"),
    (AFTER, "acl.rt.free(block); acl.rt.memcpy(host, 4096, block, 8, 2)",
     "acl.rt.memcpy(host, 4096, block, 8, 2); acl.rt.free(block)"),
    (AFTER, "acl.rt.free_host(host); acl.rt.memcpy(other, 4096, host, 8, 1)",
     "acl.rt.memcpy(other, 4096, host, 8, 1); acl.rt.free_host(host)"),
    (AFTER, "acl.rt.free(block); acl.rt.memset_async(block + 8, 50, 0, 8, stream)",
     "acl.rt.memset_async(block + 8, 50, 0, 8, stream); sync(); acl.rt.free(block)"),
    (AFTER, "with held():\n    acl.rt.memset_async(other, 99, 1, 99, stream); acl.rt.free(other)\nsync()",
     "with held():\n    acl.rt.memset_async(other, 99, 1, 99, stream)\nsync(); acl.rt.free(other)"),
    (AFTER, "with held():\n    acl.rt.memcpy_async(other, 99, host, 99, 1, stream); acl.rt.free_host(host)"
     "\nsync()",
     "with held():\n    acl.rt.memcpy_async(other, 99, host, 99, 1, stream)\nsync(); acl.rt.free_host(host)"),
    # memory that is freed too early
    (IN_USE, "with held():\n    acl.rt.memset_async(other, 9, 1, 9, stream); acl.rt.free(other)",
     "with held():\n    acl.rt.memset_async(other, 9, 1, 9, stream)\nsync(); acl.rt.free(other)"),
    (IN_USE, "with held():\n    acl.rt.memcpy_async(host, 9, block, 9, 2, stream); acl.rt.free_host(host)",
     "with held():\n    acl.rt.memcpy_async(host, 9, block, 9, 2, stream); acl.rt.free(other)"),
    (IN_USE, "with held():\n    acl.rt.memcpy_async(other, 9, block, 9, 3, stream); acl.rt.free(block)",
     "with held():\n    acl.rt.memcpy_async(other, 9, block, 9, 3, stream)\nsync(); acl.rt.free(block)"),
    # wrong frees
    (INVALID, "acl.rt.free(block); acl.rt.free(block)", "acl.rt.free(block); acl.rt.free(other)"),
    (INVALID, "acl.rt.free_host(host); acl.rt.free_host(host)", "acl.rt.free_host(host)"),
    (INVALID, "acl.rt.free(block + 32)", "acl.rt.free(block)"),
    (INVALID, "acl.rt.free(host)", "acl.rt.free_host(host)"),
    (INVALID, "acl.rt.free_host(block)", "acl.rt.free(block)"),
    (INVALID, "acl.rt.free(pointer(plain))", "acl.rt.free(block)"),
    (INVALID, "acl.rt.free(block); acl.rt.free(block + 64)", "acl.rt.free(block)"),
    # directions
    (DIRECTION, "acl.rt.memcpy(block, 100, pointer(plain), 100, 2)",
     "acl.rt.memcpy(block, 100, pointer(plain), 100, 1)"),
    (DIRECTION, "acl.rt.memcpy(pointer(plain), 100, block, 100, 1)",
     "acl.rt.memcpy(pointer(plain), 100, block, 100, 2)"),
    (DIRECTION, "acl.rt.memcpy(block, 100, other, 100, 1)", "acl.rt.memcpy(block, 100, other, 100, 3)"),
    (DIRECTION, "acl.rt.memcpy(block, 100, host, 100, 3)", "acl.rt.memcpy(block, 100, host, 100, 4)"),
    (DIRECTION, "acl.rt.memcpy(host, 100, host + 2048, 100, 1)", "acl.rt.memcpy(host, 100, host + 2048, 100, 0)"),
    (DIRECTION, "acl.rt.memcpy_async(block, 100, host, 100, 2, stream); sync()",
     "acl.rt.memcpy_async(block, 100, host, 100, 1, stream); sync()"),
    (DIRECTION, "acl.rt.memcpy_async(block, 100, other, 100, 2, stream); sync()",
     "acl.rt.memcpy_async(block, 100, other, 100, 3, stream); sync()"),
    (DIRECTION, "acl.rt.memcpy_async(host, 100, block, 100, 3, stream); sync()",
     "acl.rt.memcpy_async(host, 100, block, 100, 2, stream); sync()"),
]  # fmt: skip


def found_by(program):
    """Return what the checker found in a program, as lists of rule, level, text and the places of its notes."""
    return [
        [found.rule, found.level, found.text, ";".join(f"{note.label}@{note.site.split()[0]}" for note in found.notes)]
        for found in findings_of(START + program)
    ]


@pytest.mark.parametrize(("rule", "faulty", "right"), PROGRAMS, ids=[row[1] for row in PROGRAMS])
def test_a_fault_is_found_and_its_cure_is_not(rule, faulty, right):
    found = found_by(faulty)
    assert rule in [row[0] for row in found]
    assert {row[0] for row in found} <= {rule, AFTER, IN_USE}  # a free that is too early is both
    assert all(row[1] == ("warning" if rule in (BEYOND, DIRECTION) else "error") for row in found)
    assert all(f"@<string>:{FIRST}" in row[3] or f"@<string>:{FIRST + 1}" in row[3] for row in found)
    assert found_by(right) == []


def test_a_finding_has_the_lines_of_allocation_free_and_use():
    program = "it, _ = acl.rt.malloc(64, 0)\nwith held():\n    acl.rt.memset_async(it, 64, 1, 64, stream)\n"
    early, late = found_by(program + "    acl.rt.free(it)\nsync()\n")
    assert [early[0], late[0]] == [IN_USE, AFTER]
    places = [f"submitted@<string>:{FIRST + 2}", f"allocated@<string>:{FIRST}", f"freed@<string>:{FIRST + 3}"]
    assert early[3].split(";") == late[3].split(";") == places


def test_a_replay_with_memory_that_was_freed_and_allocated_again():
    program = """
assert acl.mdl.ri_capture_begin(stream, 0) == 0
acl.rt.memset_async(other, 4096, 1, 4096, stream)
graph, _ = acl.mdl.ri_capture_end(stream)
acl.mdl.ri_execute_async(graph, stream); sync()
"""
    again = "acl.rt.free(other); same, _ = acl.rt.malloc(4096, 0); assert same == other\n"
    replay = "assert acl.mdl.ri_execute_async(graph, stream) == 0; sync()"
    assert found_by(program + replay) == []
    ((rule, level, text, _),) = found_by(program + again + replay)
    assert (rule, level) == ("stale-replay", "error") and "writes 4096 bytes" in text


@pytest.fixture
def affine(configure):
    """Load a model of two floats with the checker on."""
    configure(check="memory")
    initialise()
    assert acl.rt.set_device(0) == 0

    @acl.sim.model("affine", inputs=[("x", (2,), "f4")], outputs=[("y", (2,), "f4")])
    def function(x):
        return 2 * x + 1

    yield load("somewhere/affine.om")
    acl.sim.model("affine")(None)


@pytest.mark.parametrize(
    ("sizes", "found"),
    [((8, 8), []), ((6, 8), ["input 0 (x)"]), ((8, 32), ["output 0 (y)"]), ((32, 4), ["input 0 (x)", "output 0 (y)"])],
)
def test_buffers_have_the_sizes_of_the_model(affine, sizes, found):
    given, taken = Dataset(sizes[:1]), Dataset(sizes[1:])
    assert acl.mdl.execute(affine, given.handle, taken.handle) == 0
    findings = acl.sim.findings()
    assert [finding.rule for finding in findings if finding.rule != "beyond-requested-size"] == ["buffer-size"] * len(
        found
    )
    texts = [finding.text for finding in findings if finding.rule == "buffer-size"]
    assert [text.partition(" of the model has 8 bytes")[0] for text in texts] == found
    assert all(finding.level == "warning" for finding in findings)


def test_new_memory_is_nan_of_every_float_type():
    done = run_script(
        """
import acl, numpy
acl.sim.configure(poison="1")
acl.rt.set_device(0)
block, _ = acl.rt.malloc(64, 0)
host = numpy.zeros(64, "u1")
acl.rt.memcpy(acl.util.numpy_to_ptr(host), 64, block, 64, 2)
pinned, _ = acl.rt.malloc_host(64)
assert (acl.util.ptr_to_numpy(pinned, (64,), 2).view("u1") == host).all()
for kind in "f2", "f4", "f8":
    assert numpy.isnan(host.view(kind)).all(), kind
brain = host.view("u2").astype("u4") << 16
assert numpy.isnan(brain.view("f4")).all()
assert not acl.sim.findings()
"""
    )
    assert done.returncode == 0, done.stderr


def test_without_the_setting_nothing_is_filled():
    program = """
import acl, numpy
acl.rt.set_device(0)
block, _ = acl.rt.malloc(64, 0)
host = numpy.ones(64, "u1")
acl.rt.memcpy(acl.util.numpy_to_ptr(host), 64, block, 64, 2)
assert (host == 0).all()
"""
    assert run_script(program).returncode == 0


def test_a_suppressed_rule_is_left_out(tmp_path):
    (tmp_path / "known").write_text("beyond-requested-size\n")
    program = START.replace('"1G"', f'"1G", suppress={str(tmp_path / "known")!r}')
    done = run_script(program + "acl.rt.memset(block, 120, 0, 101)\nassert not acl.sim.findings()")
    assert done.returncode == 0, done.stderr


def test_faults_in_c_are_found_with_their_functions(compile_c):
    source = """
    #include <acl/acl.h>
    #include <acl/acl_sim.h>
    void *block;
    aclrtStream stream;
    void fill(void) { aclrtMemsetAsync(block, 64, 1, 64, stream); }
    void end(void) { aclrtFree(block); }
    int main(int count, char **list) {
        (void)list;
        aclrtSetDevice(0);
        aclrtCreateStream(&stream);
        aclrtMalloc(&block, 64, 0);
        aclsimStreamHold(stream);
        fill();
        if (count > 1)
            end();
        aclsimStreamRelease(stream);
        aclrtSynchronizeStream(stream);
        if (count == 1)
            end();
        return 0;
    }
    """
    program = compile_c(source, "-rdynamic", "-O0", libraries=("ascendcl", "acl_sim"))
    right, faulty = (
        run([program, *more], env=environment({"ACL_SIM_CHECK": "memory"})).stderr for more in ([], ["early"])
    )
    assert "acl check" not in right
    assert "freed-in-use" in faulty and "use-after-free" in faulty
    assert "(fill+0x" in faulty and "(end+0x" in faulty
