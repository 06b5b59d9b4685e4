"""Models: loading, description, data sets, execution, dump. The calls are builtins of the compiled module."""
