"""A report of a trace of the simulator (``ACL_SIM_TRACE``) as one page: ``python -m acl report``.

:mod:`acl.report.read` reads the trace, :mod:`acl.report.page` makes the page, and ``timeline.js`` draws the timeline.
"""
