"""Profiling. The calls are builtins of the compiled module."""
