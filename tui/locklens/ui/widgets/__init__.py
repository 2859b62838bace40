"""What the screens are made of: each widget gets its state handed down and answers with messages."""
