"""The dialog that verifies hashes by download."""
