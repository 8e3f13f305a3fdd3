"""Names that programs written for PyTorch ask for: those without another home here, and what is
said of those that do not exist.
"""
