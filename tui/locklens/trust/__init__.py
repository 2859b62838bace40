"""Trust in a release: checksums, signatures, their verdict by both tools, and continuity of a release."""
