"""Styled text and phrases shared by several screens."""
