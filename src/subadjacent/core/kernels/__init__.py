"""Triton kernels for the network on a GPU; each has a plain twin in PyTorch.

Only ``switch`` is imported with the package; the modules that need Triton are imported where
there is a GPU to run on.
"""

from subadjacent.core.kernels.switch import kernels_on, use_kernels

__all__ = ["kernels_on", "use_kernels"]
