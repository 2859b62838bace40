"""Installs providers and locks them as Terraform and OpenTofu do, from registries alone.

Nothing here writes a lock file: what it becomes is returned, and whoever asked decides.
"""
