"""The terminal UI: the only package that imports Textual; itself imported when the UI opens.

Unless it is said otherwise, `is_asking` is true while the review is incomplete, and `is_fresh` asks registries despite
the cache; `in_full` shows full hashes and the meanings of rules; `narrowed` is the filter; `by` is 1 for the next and
-1 for the previous one. Keys of rows are stable across reloads, so that cursor and folds are kept. Titles and names of
rows are untrusted text.
"""
