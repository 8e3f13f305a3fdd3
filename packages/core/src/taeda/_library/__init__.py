"""Operators that are defined at run time: the modules `library` and `ops` stand on this package.

text of a schema ─▶ schema.py ─▶ table.py ─▶ a row of the op table in C ─▶ operators.py: the objects
                                    │                                      that call it
                                    └ rules by layer: fake, autograd, torch_dispatch; each layer
                                      asks for its own
"""
