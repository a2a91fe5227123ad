"""Metrics of scores and alarms: the only code that uses labels."""
