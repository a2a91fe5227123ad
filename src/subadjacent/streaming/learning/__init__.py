"""What a series usually does, learned from its rows as they come, and slowly forgotten."""
