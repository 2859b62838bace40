"""The use cases that both front ends call. Nothing here prints, asks or draws.

Callbacks are called in the caller's thread unless it is said otherwise. `cancel` is set by another thread to stop; then
RunCancelledError is raised.
"""
