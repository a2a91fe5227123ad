"""What can be asked over HTTP: a route parses, calls one function, encodes."""
