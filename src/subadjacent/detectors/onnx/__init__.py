"""Fitted detectors as ONNX files, which score without this package."""

from subadjacent.detectors.onnx.export import to_onnx

__all__ = ["to_onnx"]
