"""Network namespaces as hosts that reach each other by one link.

``python -m helpers.hosts`` prints what is missing for that, or nothing.
"""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import acl

PLUGIN = Path(acl.get_lib()) / "libacl_hccl_net.so"


def lacking():
    """Return why there can be no hosts, or an empty text."""
    if not PLUGIN.exists():
        return "the library was built without Gloo's development package"
    if shutil.which("ip") is None or os.geteuid() != 0:
        return "network namespaces need root and iproute2"
    tried = subprocess.run(["ip", "netns", "add", f"acl-{os.getpid()}"], capture_output=True, text=True)
    if tried.returncode == 0:
        subprocess.run(["ip", "netns", "delete", f"acl-{os.getpid()}"], check=True)
    return tried.stderr.strip()


class Hosts:
    """Two hosts."""

    def __init__(self):
        self.names = [f"acl-{os.getpid()}-{host}" for host in (1, 2, 3)]

    def ip(self, *words):
        """Run ``ip``."""
        subprocess.run(["ip", *words], check=True)

    def inside(self, host):
        """Return the words before a command that runs on a host, by its number."""
        return "ip", "netns", "exec", self.names[host]

    def alone(self):
        """Return the words before a command that runs on a host without a link and an address."""
        return self.inside(2)

    def address(self, host):
        """Return the address of a host."""
        return f"10.77.0.{host + 1}"

    def link(self, state):
        """Set the link "up" or "down"."""
        self.ip("-n", self.names[0], "link", "set", "acl1", state)


@contextlib.contextmanager
def hosts():
    """Make two hosts, and remove them afterwards."""
    made = Hosts()
    try:
        for name in made.names:
            made.ip("netns", "add", name)
        first, second, _ = made.names
        made.ip("link", "add", "acl1", "netns", first, "type", "veth", "peer", "name", "acl2", "netns", second)
        for host, name in enumerate((first, second)):
            made.ip("-n", name, "addr", "add", f"{made.address(host)}/24", "dev", f"acl{host + 1}")
            made.ip("-n", name, "addr", "add", f"fd77::{host + 1}/64", "dev", f"acl{host + 1}", "nodad")
            made.ip("-n", name, "link", "set", f"acl{host + 1}", "up")
            made.ip("-n", name, "link", "set", "lo", "up")
        yield made
    finally:
        for name in made.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


if __name__ == "__main__":
    print(lacking())
