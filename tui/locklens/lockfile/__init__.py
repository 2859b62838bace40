"""The dependency lock file: its values, how it is read, how it is written."""
