"""Benchmarks of calls, copies, captures, models, operators and collectives, on the vendor's library or the simulator.

``python -m acl bench`` runs them (:mod:`acl.bench.command`). :mod:`acl.bench.rows` says what is measured,
:mod:`acl.bench.measure` takes the samples, :mod:`acl.bench.result` stores them, :mod:`acl.bench.compare` compares
stored results, and :mod:`acl.bench.report` prints them.
"""
