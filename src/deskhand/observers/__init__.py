"""What can be seen: one node, one selector grammar, one ref table, one diff."""
