"""One row at a time: answers at once, alarms that open and close, learning while it watches."""
