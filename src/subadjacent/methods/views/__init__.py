"""The default: several views of an entity, each of which expects values in its own way."""
