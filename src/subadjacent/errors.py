"""The errors this package raises on purpose.

Each is also the built-in error a caller would expect, so either can be caught.
"""


class SubadjacentError(Exception):
    """Base of every error raised on purpose by this package."""


class InputError(SubadjacentError, ValueError):
    """An argument breaks a rule; the message names the argument, the rule and what came."""


class DataNotFound(SubadjacentError, FileNotFoundError):
    """A file or folder that was named is not there."""


class ModelFileError(SubadjacentError, RuntimeError):
    """A saved model or checkpoint is damaged, incomplete, or made for something else."""
