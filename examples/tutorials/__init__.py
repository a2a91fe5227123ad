"""The tutorials are notebooks, with what they say when they are run."""
