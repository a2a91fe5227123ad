"""Whether what an alarm says is true, by its rows alone."""
