"""The command line. Each command parses, calls the library, and writes the result."""
