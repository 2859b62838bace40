"""Authenticated release facts: the single access path of reviews, locks and installs to registries.

`session` has the connections, gpg and threads of a run; `authentication` judges a release as the tools do; `lookup`
turns answers and failures into the values of `facts`. Nothing here compares a release with what is locked.
"""
