"""A finished review as text and as a JSON document. Nothing is computed here that the review does not say."""
