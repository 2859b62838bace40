"""Plans: file changes that are known in full before anything is written."""
