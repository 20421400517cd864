"""What can be done: the action vocabulary, settling, waiting, and the public façade."""
