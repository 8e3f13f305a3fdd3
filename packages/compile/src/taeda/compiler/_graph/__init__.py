"""The operations of a run as a graph."""
