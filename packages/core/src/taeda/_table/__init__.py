"""The op table: one row per operation, the only place that knows what it is.
Read at build time, never at import.
"""
