"""Storages: bytes with and without a dtype, and memory that several processes see."""
