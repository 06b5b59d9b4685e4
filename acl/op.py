"""Single operators: attributes, compilation, execution. The calls are builtins of the compiled module."""
