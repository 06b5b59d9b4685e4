"""Which operators torch_npu left to the CPU."""

import contextlib
import os
import re
import sys
import tempfile

WARNING = re.compile(rb"operator '(?:aten::)?([^']+)' is not currently supported on the NPU")


@contextlib.contextmanager
def on_cpu():
    """Give a set that holds, at the end, the operators that were computed on the CPU for the first time.

    torch_npu writes a warning to stderr once per operator and process.
    """
    names = set()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as heard:
        before = os.dup(2)
        os.dup2(heard.fileno(), 2)
        try:
            yield names
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
        heard.seek(0)
        names.update(name.decode() for name in WARNING.findall(heard.read()))
