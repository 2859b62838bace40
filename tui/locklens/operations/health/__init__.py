"""The health of all root modules below a folder."""
