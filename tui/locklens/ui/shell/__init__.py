"""What every screen has: bars, keys, help, palette, panes."""
