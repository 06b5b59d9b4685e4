"""Placeholder."""


class DeviceArray:
    """Placeholder."""

    _handle: int
    nbytes: int
