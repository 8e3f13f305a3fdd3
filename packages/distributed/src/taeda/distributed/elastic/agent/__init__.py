"""Agents: one on each machine of a job."""
