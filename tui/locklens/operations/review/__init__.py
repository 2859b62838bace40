"""Reviews: compared roots, facts of registries, and findings."""
