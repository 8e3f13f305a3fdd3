"""Modules that compute again in backward, or keep what they save in the host's memory."""
