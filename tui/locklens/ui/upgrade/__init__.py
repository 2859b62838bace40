"""The Upgrade screen."""
