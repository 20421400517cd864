"""A hired hand for the screen."""
