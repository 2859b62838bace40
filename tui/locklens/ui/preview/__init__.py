"""The Preview screen."""
