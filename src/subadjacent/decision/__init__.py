"""From evidence to scores, thresholds and alarms; no label is ever seen here."""
