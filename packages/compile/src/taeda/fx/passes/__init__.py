"""Passes over graphs: each walks over the nodes of a `GraphModule`."""
