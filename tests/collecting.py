"""Has the real tools, which are written in Go, collect no garbage while they have memory to spare: a quarter of what they take."""

UNCOLLECTED = {"GOGC": "off", "GOMEMLIMIT": "512MiB"}
"""Variables for a process; past the limit it collects as ever."""
