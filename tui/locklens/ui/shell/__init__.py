"""Common parts of all screens: bars, keys, jobs, the review loader, panes."""
