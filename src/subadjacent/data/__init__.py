"""From whatever holds the data to windows."""
