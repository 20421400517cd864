"""The child: the wall, the loop, its limits and its models."""
