"""Storage between runs, and the writing of files."""
