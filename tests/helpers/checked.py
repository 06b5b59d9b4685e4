"""Programs as text that run in the process of the tests, with checkers."""

import acl


def findings_of(program):
    """Run a program, whose file is called ``<string>``, on a fresh simulator, and return what the checkers found."""
    acl.sim.reset()
    try:
        exec(compile(program, "<string>", "exec"), {"__name__": "program"})
        return acl.sim.findings()
    finally:
        acl.sim.reset()
