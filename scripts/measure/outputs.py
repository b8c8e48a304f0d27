"""Compares what runs of one command wrote, each under a name of its own."""

import pathlib
import sys

from measure import timing

# What names a device, a time or the command itself.
NOT_COMPARED = (".html", ".json")


def of_run(folder, out):
    """The outputs whose names begin with `out`, by the rest of their names."""
    return {path.name[len(out):]: path for path in sorted(pathlib.Path(folder).glob(f"{out}*"))
            if path.name[len(out):][:1] in ("_", ".") and path.suffix not in NOT_COMPARED}


def remove(folder, out):
    for former in pathlib.Path(folder).glob(f"{out}[._]*"):
        former.unlink()


def remove_and_run(command, folder, out):
    """Times a command without what it wrote the last time."""
    remove(folder, out)
    return timing.run(command, folder)


def content(path):
    """The bytes of an output; of a database without its header, which has the command line."""
    data = path.read_bytes()
    return data[9 + int(data[:9]):] if path.suffix == ".jf" else data


def require_equal(folder, name, outs):
    """Ends the program unless all of a run's outputs are those of the first."""
    def fail(what):
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {name}: {what}")

    expected = of_run(folder, outs[0])
    if not expected:
        fail("no output to compare")
    for out in outs[1:]:
        found = of_run(folder, out)
        if found.keys() != expected.keys():
            fail(f"{out} has the outputs {sorted(found)}, {outs[0]} has {sorted(expected)}")
        for suffix, path in found.items():
            if content(path) != content(expected[suffix]):
                fail(f"{path.name} differs from {expected[suffix].name}")
