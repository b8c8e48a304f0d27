"""Blocks of protein-structure models in biogpu, for NumPy arrays and PyTorch tensors.

    from biogpu_blocks import triangle_attention, triangle_multiplicative_update, patch

triangle_attention and triangle_multiplicative_update are called as the functions of these names in cuEquivariance; Block has
a whole block with its weights, of any kind in INPUTS; patch lets a loaded model of Protenix or OpenFold compute its blocks here.

The package is Python alone: it calls libbiogpu_potential.so, which it looks for in BIOGPU_BLOCK_LIBRARY, in the installation that
the package biogpu beside it belongs to, and by the system's loader. Arrays are passed by DLPack or the buffer protocol, without copies where their type
fits. There are no gradients.
"""
from .blocks import INPUTS, Block, set_threads
from .patching import Patched, patch
from .triangle import triangle_attention, triangle_multiplicative_update

__all__ = ["INPUTS", "Block", "Patched", "patch", "set_threads", "triangle_attention", "triangle_multiplicative_update"]
