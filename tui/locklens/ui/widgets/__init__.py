"""The widgets of the screens: state is passed down, user actions are posted as messages."""
