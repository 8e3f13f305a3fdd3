"""Who has come to a collective, who called something else, and who has died."""
