"""Calls that need Python: dicts, lists that C fills, texts of unknown length, callbacks."""
