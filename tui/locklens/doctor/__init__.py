"""Recognises errors of `init` in logs, and judges their causes by facts that are handed in. No input or output."""
