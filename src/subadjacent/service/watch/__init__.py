"""Watch the metrics of a Prometheus server: learn from its history, score, expose alarms."""
