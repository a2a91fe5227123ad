"""From settings to a fitted model: the default's views, networks, subspaces, controls."""
