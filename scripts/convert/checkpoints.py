"""Reads tensors that were published as pickles without running them, and writes a model's folder as a whole.

fail(path, what) ends the program of the caller with one line. Needs torch and safetensors.
"""

import json
import pickle
import tarfile
import warnings

import safetensors.torch
import torch


def check(path, fail):
    """Refuses a file that cannot be opened, and tar files (torch before 0.1.10): for them weights_only does not hold in
    torch before 2.6."""
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


def write(folder, config, tensors, fail):
    """config.json and model.safetensors, under other names first: a folder that is cut short has no model."""
    names = ("config.json", "model.safetensors")
    partial = [folder / f"{name}.partial" for name in names]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            partial[0].write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
            safetensors.torch.save_file(tensors, partial[1])
            partial[1].chmod(0o644)
            (folder / names[0]).unlink(missing_ok=True)  # never with other weights
            for path, name in reversed(list(zip(partial, names))):
                path.replace(folder / name)
        finally:
            for path in partial:
                path.unlink(missing_ok=True)
    except OSError as error:
        fail(folder, error.strerror or str(error))
    except safetensors.SafetensorError as error:
        fail(folder, f"cannot be written: {error}")
