"""Groups: members, the order of their collectives, the work under way."""
