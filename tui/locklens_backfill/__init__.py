"""Completes registry metadata: the `h1` and the size of every package that a registry's files name without them."""
