"""Models: each module translates one wire format and nothing else."""
