"""`inspect`: which packages are meant, where they come from, and what is inside."""
