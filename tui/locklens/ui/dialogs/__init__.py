"""The full-window screens and the dialogs above them."""
