"""A first look at what slows a script down: `python -m taeda.utils.bottleneck script.py args`.

It runs the script twice, under Python's profiler and under `taeda.profiler`, and prints where it
runs, the functions and the operations that took the most time. The script has to end.
"""
