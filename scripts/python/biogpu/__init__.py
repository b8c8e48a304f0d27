"""biogpu from Python: sequences, structures and paths in, numpy arrays out.

    import biogpu
    vectors = biogpu.embed(["MKTAYIAKQR", "MLLAVLYCL"], model="esm2_t6_8M_UR50D")

Potentials and triangle blocks (biogpu_blocks) are computed in this process, through libbiogpu_potential.so, over the memory of
the arrays. Every other function runs the program once, with temporary files for its inputs and its result. So each call costs the
start of the program and of the model: give many sequences to one call.

A list or an array of strings is a list of sequences, a dict has their names, and a str or a path is a file that the program
reads. Results of a list are in its order; those of a dict and of a file are a dict with the names. Any other option of the command
is a keyword: threads=4, device="gpu", max_memory="2G".
"""
import importlib

_PLACES = {
    "BiogpuError": "program", "BiogpuWarning": "program", "run": "program", "version": "program",
    "Potential": "potential", "energy": "potential",
    "embed": "models", "info": "models", "logits": "models", "score": "models", "tokens": "models", "tracks": "models",
    "region_tracks": "models",
    "align": "sequences", "count_kmers": "sequences",
}
__all__ = sorted(_PLACES)


# The command of a wheel begins here, and needs no numpy.
def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'biogpu' has no attribute '{name}'")
    return getattr(importlib.import_module("." + _PLACES[name], __name__), name)


def __dir__():
    return __all__
