"""Checks that the extras for ONNX files are installed, where they are used."""

from __future__ import annotations

from importlib import import_module

from subadjacent.errors import MissingPackage


def needs_onnx() -> None:
    """Raise an error that names the extra, if the package that writes files is missing."""
    _needs("onnx", "onnx")


def needs_tracer() -> None:
    """Raise an error that names the extra, if the packages that trace a network are missing."""
    for package in ("torch", "onnx", "onnxscript"):
        _needs(package, "onnx-network")


def _needs(package: str, extra: str) -> None:
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"ONNX files need {error.name}; install it with pip install 'subadjacent[{extra}]'"
        ) from error
