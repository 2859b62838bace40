"""The terminal UI: the only place that knows Textual. It is imported when the UI opens and not before."""
