"""HTTP routes: each parses the request, calls one function and encodes the answer."""
