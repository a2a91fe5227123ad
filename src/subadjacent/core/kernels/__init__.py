"""Triton kernels for the network on a GPU; each has a plain twin in PyTorch.

``switch`` turns them on and off, ``core.dispatch`` decides where they run. The other modules need
Triton and are imported where there is a GPU to run on.
"""
