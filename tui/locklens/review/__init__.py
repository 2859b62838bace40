"""What changed between two sides, who vouches for it, and how dangerous it is."""
