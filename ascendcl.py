"""Start the command line of this installation, also where another module named ``acl`` comes first on the path."""

import os
import sys


def main() -> int:
    """Put the directory of this file first and run :mod:`acl.__main__` from it."""
    home = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, home)
    other = sys.modules.get("acl")
    if other is not None and not (getattr(other, "__file__", None) or "").startswith(home + os.sep):
        for name in [name for name in sys.modules if name.partition(".")[0] == "acl"]:
            del sys.modules[name]
    from acl.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
