"""torch's files, read and written as data."""
