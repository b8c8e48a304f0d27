"""What the comparisons with models in PyTorch share: random weights, embeddings of proteins, tolerances.

Weights are random, of published shapes: scripts/reference/make_model.py makes them without any download.
"""

import json
import subprocess

from measure import inputs, programs
from measure.comparison import Case, Different, Program

REFERENCE = programs.ROOT / "scripts" / "reference"
# Of the largest number of the reference, in fp32: sums are added in another order.
TOLERANCE = 1e-4
DIFFERENCE = ("import numpy, sys; a, b = numpy.load(sys.argv[1]), numpy.load(sys.argv[2]); "
              "print(abs(a - b).max() / abs(b).max() if a.shape == b.shape else 'inf')")


def python_of(setup):
    return programs.torch_python(setup.arguments.venv.absolute(), setup.may_install)


def versions(setup, *packages):
    text = ("import sys; from importlib.metadata import version; "
            "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))")
    done = subprocess.run([python_of(setup), "-c", text, *packages], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def prepare(setup, command):
    done = subprocess.run([str(word) for word in command], cwd=setup.folder, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise programs.Broken(f"{command[1]}: {done.stderr.strip()[-400:]}")


def same_arrays(setup, ours, theirs):
    done = subprocess.run([python_of(setup), "-c", DIFFERENCE, ours, theirs], cwd=setup.folder, capture_output=True,
                          text=True, check=True)
    if not float(done.stdout) <= TOLERANCE:
        raise Different(f"embeddings differ by {done.stdout.strip()} of the largest number")


def compute_seconds(name, key):
    """The seconds that a program itself names in a JSON file: key of biogpu's "time", or the file's own."""
    def read(folder):
        summary = json.loads((folder / name).read_text(encoding="utf-8"))
        return {"compute_s": summary.get("time", summary)[key]}
    return read


def embedding_cases(setup, shape, n):
    """Mean embeddings of n proteins with the lengths of a proteome."""
    python = python_of(setup)
    rng = setup.rng()
    records = [(f"s{i}", inputs.protein(rng, length)) for i, length in enumerate(inputs.proteome_lengths(rng, n))]
    inputs.write_fasta(setup.path("proteins.fa"), records)
    setup.made(setup.path("proteins.fa"), f"{n} proteins, {sum(len(text) for _, text in records)} residues")
    prepare(setup, [python, REFERENCE / "make_model.py", shape, "model", "--seed", setup.arguments.seed])

    def case(name, passes):
        extra = ["--passes", passes] if passes else []
        return Case(
            name,
            Program([setup.biogpu, "infer", "embed", *setup.shared(), "--model", "model", "--json", "ours.json",
                     "proteins.fa", "-o", "ours.npy"], figures=compute_seconds("ours.json", "compute_s")),
            Program([python, REFERENCE / "embed.py", "model", "proteins.fa", "theirs.npy", "--threads", setup.threads,
                     "--summary", "theirs.json", *extra], figures=compute_seconds("theirs.json", "compute_s")),
            f"every number, to {TOLERANCE:g} of the largest",
            lambda: same_arrays(setup, "ours.npy", "theirs.npy"),
            note=f"the reference is warm: {passes} passes behind one that does not count" if passes else "",
            only_compute=bool(passes), small_repeats=2)

    yield case(f"{n} proteins", 0)
    if setup.full:
        yield case(f"{n} proteins, warm", 3)
