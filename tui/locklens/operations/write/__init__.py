"""The operations that change files, and `apply`, the only writer of the user's files."""
