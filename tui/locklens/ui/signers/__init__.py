"""The Signers screen."""
