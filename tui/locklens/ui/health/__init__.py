"""The Health screen."""
