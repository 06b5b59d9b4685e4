"""Runtime: devices, streams, events, memory, callbacks, kernels. The calls are builtins of the compiled module.

Ctrl-C interrupts ``synchronize_stream``, ``synchronize_event``, ``synchronize_device`` (each also with a time-out) and
``process_report`` on Python's main thread if the backend is the simulator. With the vendor's library these calls block
until they are done, and the interrupt is raised afterwards.
"""
