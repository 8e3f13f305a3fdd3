"""Programs of core made of recorded runs, forward and backward."""
