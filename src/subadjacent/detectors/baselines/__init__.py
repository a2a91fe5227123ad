"""Detectors to compare with: cheap controls, and the method that ours grew from."""
