"""What holds for every row of the op table: each module is one property, and its `faults` says
where it does not hold.
"""
