"""Matrix and vector products. The calls are builtins of the compiled module."""
