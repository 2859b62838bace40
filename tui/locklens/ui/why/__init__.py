"""The Why dialog."""
