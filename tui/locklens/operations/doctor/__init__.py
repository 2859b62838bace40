"""Diagnoses errors of `init`: reads files, git and registries, and finds remedies."""
