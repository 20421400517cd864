"""What happened: the hash-chained log, its images and its review."""
