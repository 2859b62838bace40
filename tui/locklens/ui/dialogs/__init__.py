"""The dialogs above the screens."""
