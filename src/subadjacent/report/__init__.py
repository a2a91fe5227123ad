"""Figures and the report: a run as one HTML page, or as static images."""
