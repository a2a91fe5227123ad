"""From settings to a fitted model: the default's views, the online method, networks."""
