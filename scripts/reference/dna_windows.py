"""Windows of DNA for the vectors of DNA models, and statistics of their batch norms."""

import numpy
import torch


def make_windows(length):
    """A random window, and one with both cases, letters that are no base, and a run of N at its beginning."""
    bases = numpy.array(list("ACGT"))
    rng = numpy.random.default_rng(7)
    one = "".join(bases[rng.integers(0, 4, length)])
    two = numpy.array(list("N" * 100 + "".join(bases[rng.integers(0, 4, length - 100)])))
    for i, letter in enumerate("RYKMSWBDHVNacgtn"):
        two[150 + 37 * i] = letter
    return {"one": one, "two": "".join(two)}


def one_hot(window):
    letters = numpy.frombuffer(window.upper().encode(), numpy.uint8)
    return torch.from_numpy(letters[:, None] == numpy.frombuffer(b"ACGT", numpy.uint8)).to(torch.get_default_dtype())


def set_statistics(model, rows):
    """Each batch norm's drawn statistics, in units of what its input has for a window, as the model takes it."""
    def hook(norm, inputs):
        spread, mean = torch.var_mean(inputs[0], dim=(0, 2))
        norm.running_mean.mul_(spread.sqrt()).add_(mean)
        norm.running_var.mul_(spread)

    hooks = [part.register_forward_pre_hook(hook) for part in model.modules() if isinstance(part, torch.nn.BatchNorm1d)]
    with torch.no_grad():
        model(rows[None])
    for handle in hooks:
        handle.remove()
