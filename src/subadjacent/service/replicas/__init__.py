"""Several services that share the series among them, and answer as one."""
