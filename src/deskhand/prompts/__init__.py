"""What the child is told."""
