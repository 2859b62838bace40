"""Upgrade candidates: which versions are available, recommended and selected."""
