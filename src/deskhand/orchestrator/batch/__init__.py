"""Many tasks: their lines, the results that land one by one, how many fit this machine, and the run."""
