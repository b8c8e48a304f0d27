"""Reads tensors that were published as pickles without running them, and writes a model's folder as a whole.

fail(path, what) ends the program of the caller with one line. Needs torch and safetensors.
"""

import json
import pickle
import tarfile
import warnings

import safetensors.torch
import torch

import whole_files


LFS_POINTER = b"version https://git-lfs"
MIN_TORCH = (2, 5)  # before it, weights_only does not know what checkpoints hold other than tensors, in 1.13 no numbers


def refuse_pointer(path, fail):
    """Ends with what to do where a folder was cloned without its large files."""
    try:
        with open(path, "rb") as file:
            is_pointer = file.read(len(LFS_POINTER)) == LFS_POINTER
    except OSError as error:
        fail(path, error.strerror or str(error))
    if is_pointer:
        fail(path, "is a Git LFS pointer and not the file itself; 'git lfs pull' fetches it")


def torch_version():
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


def check(path, fail):
    """Refuses a file that cannot be opened, pointers to one, torch that is too old to read checkpoints without running
    them, and tar files (torch before 0.1.10): for them weights_only does not hold in torch before 2.6."""
    refuse_pointer(path, fail)
    if torch_version() < MIN_TORCH:
        fail(path, f"needs torch {MIN_TORCH[0]}.{MIN_TORCH[1]} or newer to be read without running what it holds; here is "
             f"{torch.__version__}; scripts/convert/requirements.txt names a version")
    try:
        is_tar = tarfile.is_tarfile(path)
    except OSError as error:
        fail(path, error.strerror or str(error))
    except EOFError:  # a gzip file that is cut short
        is_tar = False
    if is_tar:
        fail(path, "is a tar file, as torch before 0.1.10 wrote it, which is not loaded")


def load(path, fail, kept="tensors"):
    """What the file holds, of `kept` alone: torch.load with weights_only."""
    check(path, fail)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of protocols: what cannot be loaded is an error anyway
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        fail(path, f"contains objects other than {kept}, which are not loaded, or is damaged")
    except MemoryError:
        fail(path, "there is not enough memory for it")
    except Exception as error:  # bytes of something else make an unpickler fail in any way
        reason = (str(error).strip() or type(error).__name__).split(chr(10))[0]
        fail(path, f"is damaged, or no checkpoint of torch ({reason})")


def write(folder, config, tensors, fail, others=None, stale=()):
    """config.json, model.safetensors and others, under other names first: a folder that is cut short has no model, and
    never one with files of another. others, stale: as whole_files.write() has them."""
    files = {"config.json": json.dumps(config, indent=2) + "\n",
             "model.safetensors": lambda path: safetensors.torch.save_file(tensors, path)}
    try:
        whole_files.write(folder, {**files, **(others or {})}, fail, stale)
    except safetensors.SafetensorError as error:
        fail(folder, f"cannot be written: {error}")
