"""What is installed here, on what machine, and whether it works: `python -m taeda`."""
