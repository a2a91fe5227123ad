"""From windows to weights."""
