"""`verify` as a use case: installed, cached and mirrored packages beside the lock files."""
