"""The way of one call: a graph that fits, a proof of a new one, a recording."""
