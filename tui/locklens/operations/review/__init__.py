"""Reviews: which roots are compared, what registries know of them, and what follows."""
