"""Installs providers and locks them as Terraform and OpenTofu do, from registries alone.

Nothing here writes a lock file: entries are returned to the caller.
"""
