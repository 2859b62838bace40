"""What locklens keeps between runs, and how it writes files."""
