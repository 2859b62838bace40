"""Common parts of all screens: bars, keys, help, palette, panes."""
