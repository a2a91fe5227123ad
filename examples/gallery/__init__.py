"""Six real-looking cases, from the file that somebody has to a page about what was found in it."""
