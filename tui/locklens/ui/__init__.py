"""The terminal UI: the only package that imports Textual; itself imported when the UI opens."""
