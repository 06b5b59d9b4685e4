"""Other processes of a test, which execute the lines of code that they are sent."""

import contextlib
import json
import select
import signal
import subprocess
import sys

from helpers import programs

PATIENCE = 120  # seconds for one reply, enough for a busy machine

LOOP = """
import json, sys, acl
from acl._lib import ffi, lib

def device_bytes(address, size):
    host = ffi.new("char[]", size)
    ret = acl.rt.memcpy(int(ffi.cast("uintptr_t", host)), size, address, size, 2)
    return ffi.buffer(host)[:].hex() if ret == 0 else ret

def fill(address, size, value):
    host = ffi.new("unsigned char[]", bytes([value]) * size)
    return acl.rt.memcpy(address, size, int(ffi.cast("uintptr_t", host)), size, 1)

def event_handle(event):
    handle = ffi.new("aclrtIpcEventHandle *")
    ret = lib.aclrtIpcGetEventHandle(ffi.cast("void *", event), handle)
    return ffi.buffer(handle)[:].hex(), ret

def open_event(text):
    handle = ffi.new("aclrtIpcEventHandle *")
    ffi.buffer(handle)[:] = bytes.fromhex(text)
    event = ffi.new("void **")
    ret = lib.aclrtIpcOpenEventHandle(handle[0], event)
    return int(ffi.cast("uintptr_t", event[0])), ret

for line in sys.stdin:
    code = json.loads(line)
    try:
        value = eval(f"({code})", globals())
    except SyntaxError:
        exec(code, globals())
        value = None
    absent = lib.acl_backend_absent()
    print(json.dumps([value, ffi.string(absent).decode() if absent else None]), flush=True)
"""


class Process:
    """A Python process with the same backend; ``inside`` are the first words of a command that runs the others."""

    def __init__(self, device=0, inside=(), **env):
        self.program = subprocess.Popen(
            [*inside, sys.executable, "-X", "faulthandler", "-c", LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=programs.environment(env),
        )
        assert self(f"acl.rt.set_device({device})") == 0
        self("stream, ret = acl.rt.create_stream()")

    @property
    def pid(self):
        """The process id for allow-lists."""
        return self("acl.rt.device_get_bare_tgid()[0]")

    def begin(self, code):
        """Send code, whose result :meth:`end` returns."""
        self.program.stdin.write(json.dumps(code) + "\n")
        self.program.stdin.flush()

    def end(self):
        """Return the result of :meth:`begin`, decoded from JSON; after a time-out, print the stacks of its threads."""
        if not select.select([self.program.stdout], [], [], PATIENCE)[0]:
            self.program.send_signal(signal.SIGABRT)
        line = self.program.stdout.readline()
        assert line, f"the process ended with {self.program.wait(10)}"
        value, absent = json.loads(line)
        if absent:
            programs.lacked.append(absent)
        return value

    def __call__(self, code):
        self.begin(code)
        return self.end()

    def refused(self, code, ret, *words):
        """Assert the code that an expression returns (alone or as the last item) and words of the newest message."""
        value = self(code)
        text = self("acl.get_recent_err_msg()")
        assert (value[-1] if isinstance(value, list) else value) == ret, text
        newest = (text or "no message").split("\n")[0]
        assert [word for word in words if word not in newest] == [], newest

    def kill(self):
        """Kill it, so that it cannot clean up."""
        self.program.kill()
        self.program.wait()

    def close(self):
        """Let it end by itself if it is still running, and return its exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.program.stdin.close()
        try:
            return self.program.wait(30)
        finally:
            self.program.kill()
            self.program.stdout.close()


@contextlib.contextmanager
def processes(count, inside=None, **options):
    """Yield some processes, which must end with exit code 0 unless the test kills them."""
    with contextlib.ExitStack() as stack:
        made = []
        for each in inside or [()] * count:
            made.append(Process(inside=each, **options))
            stack.callback(made[-1].close)
        yield made
        for process in made:
            assert process.close() in (0, -9)
