"""Detectors: one interface over everything below."""
