"""Writing files so that the previous file survives a failure, such as a full disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield a new directory beside ``path``, which is removed with its contents at the end.

    An ``OSError`` of the block is raised again with ``path`` as its file name, the only name that the user knows.
    """
    target = os.fspath(path)
    folder = None
    try:
        folder = tempfile.mkdtemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target) or ".")
        yield folder
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), target) from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def write(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all; a target that is not a regular file, such as a terminal, is written directly.

    Raises
    ------
    OSError
        With ``path`` as its file name.
    """
    target = os.path.realpath(path)
    data = content.encode() if isinstance(content, str) else content
    mode = 0o666
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(target)
        if not stat.S_ISREG(status.st_mode):
            with open(path, "wb") as file:
                file.write(data)
            return
        mode = stat.S_IMODE(status.st_mode)
    with beside(target) as folder:
        fresh = os.path.join(folder, "file")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
        os.replace(fresh, target)
