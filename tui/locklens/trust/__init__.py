"""Who vouches for a release: checksums, signatures, how the tools judge them, and whether a release stayed the same."""
