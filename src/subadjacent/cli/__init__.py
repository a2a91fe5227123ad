"""What people type. Each command parses, calls the library, and writes what came of it."""
