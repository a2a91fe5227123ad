"""The tables and figures: runs and layout of each, as data."""
