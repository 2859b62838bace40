"""Changes between two sides, their evidence, and their findings."""
