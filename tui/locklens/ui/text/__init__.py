"""Styled text and phrases that several screens show."""
