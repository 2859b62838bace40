"""The Hashes screen."""
