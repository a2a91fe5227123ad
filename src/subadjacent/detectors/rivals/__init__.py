"""Detectors to compare with."""
