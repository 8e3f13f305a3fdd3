"""What a recorded program reads, stores and calls, and the guards made of that."""
