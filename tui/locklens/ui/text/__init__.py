"""Styled text, phrases and the clipboard, shared by several screens."""
