"""How good scores and alarms are, judged by labels: the only code that uses labels."""
