"""The Python package biogpu: the session of docs/python.md, and what it does not show.

usage: python_package_check.py SOURCE_DIR      in an empty folder, with the package importable and its program found
"""
import doctest
import os
import pathlib
import re
import sys
import warnings

import numpy

import biogpu

source = pathlib.Path(sys.argv[1]).resolve()
for name in ("data", "tests"):
    os.symlink(source / name, name)
protein_model, dna_model = "tests/data/models/esm2_head16", "tests/data/models/enformer_tiny"
crystals, charged = "tests/data/models/tensornet/matgl", "tests/data/models/tensornet/charges"


def error_of(kind, function):
    try:
        function()
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}")


# The page, as one session.
page = source / "docs/python.md"
session = "\n".join(re.findall(r"^```python\n(>>> .*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
test = doctest.DocTestParser().get_doctest(session, {}, str(page), None, 0)
assert len(test.examples) > 20
assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0

assert re.fullmatch(r"\d+\.\d+\.\d+", biogpu.version())
assert set(dir(biogpu)) == set(biogpu.__all__)
for name in biogpu.__all__:
    assert getattr(biogpu, name).__doc__
assert error_of(AttributeError, lambda: biogpu.embedd)

# Lists, arrays, dicts and files give the same numbers, of every layer; arrays can be written to.
sequences = ["MKTAYIAKQR", "MLLAVLYCL", "MKT"]
pathlib.Path("in.fa").write_text(">a\nMKTAYIAKQR\n>b\nMLLAVLYCL\n>c\nMKT\n", encoding="utf-8")
for layer in (0, -1):
    means = biogpu.embed(sequences, protein_model, layer=layer)
    residues = biogpu.embed(numpy.array(sequences, dtype="S"), protein_model, include="residues", layer=layer)
    by_name = biogpu.embed(dict(zip("xyz", sequences)), protein_model, include="residues", layer=layer, threads=1)
    by_file = biogpu.embed(pathlib.Path("in.fa"), protein_model, include="residues", layer=layer)
    assert list(by_name) == ["x", "y", "z"] and list(by_file) == ["a", "b", "c"]
    for i, sequence in enumerate(sequences):
        assert residues[i].shape == (len(sequence), means.shape[1])
        assert abs(residues[i].mean(axis=0) - means[i]).max() < 1e-5
        assert (by_name["xyz"[i]] == residues[i]).all() and (by_file["abc"[i]] == residues[i]).all()
residues[0][0] = 0
assert biogpu.embed(sequences, protein_model, include="cls").shape == means.shape

logits = biogpu.logits(sequences, protein_model)
assert [x.shape for x in logits] == [(len(x), len(biogpu.tokens(protein_model))) for x in sequences]
likelihoods = biogpu.score(sequences, protein_model)
assert likelihoods["name"].tolist() == ["0", "1", "2"] and likelihoods["residues"].tolist() == [10, 9, 3]
singles = biogpu.score(["MKT"], protein_model, variants="all-single")
some = biogpu.score(["MKT"], protein_model, variants=["M1A", "T3W"])
every = dict(zip(singles["mutant"], singles["score"]))
assert len(every) == 57 and some["score"].tolist() == [every["M1A"], every["T3W"]]

# DNA: windows, and the same bases as regions of a genome.
pathlib.Path("genome.fa").write_bytes(pathlib.Path(dna_model, "genome.fa").read_bytes())
regions = ["chr1:1001-1400", "chr1:1501-1600"]
by_region = biogpu.region_tracks("genome.fa", regions, dna_model, head="mouse")
assert list(by_region) == regions and all(x.shape == (16, 5) for x in by_region.values())
genome = "".join(pathlib.Path("genome.fa").read_text(encoding="utf-8").split(">")[1].split("\n")[1:])
window = biogpu.tracks([genome[1200 - 512:1200 + 512]], dna_model, head="mouse")
assert (window[0] == by_region[regions[0]]).all()
pathlib.Path("regions.bed").write_text("chr1\t1000\t1400\tfirst\n", encoding="utf-8")
assert (biogpu.region_tracks("genome.fa", "regions.bed", dna_model, head="mouse")["first"] == window[0]).all()
assert "human, mouse" in str(error_of(ValueError, lambda: biogpu.tracks([genome[:1024]], dna_model)))

# Alignments: columns by choice, without targets, and an E-value that is not known.
table = biogpu.align(sequences, mode="nw", columns=["query_index", "target_index", "identity"])
assert list(zip(table["query_index"], table["target_index"])) == [(0, 1), (0, 2), (1, 2)]
assert table["identity"].dtype == numpy.float64
table = biogpu.align(["ACGT"], ["ACGT"], match=1, mismatch=-9, pairs=True, columns=["score", "evalue"])
assert table["score"].tolist() == [4] and numpy.isnan(table["evalue"]).all()
assert biogpu.align(["ACGT"], ["ACGT"], min_score=100)["score"].shape == (0,)


# K-mers against a count of our own.
def plain_count(letters, k):
    counts = {}
    for i in range(len(letters) - k + 1):
        kmer = letters[i:i + k].encode()
        counts[kmer] = counts.get(kmer, 0) + 1
    return counts


letters = "".join(numpy.random.default_rng(1).choice(list("ACGT"), 3000))
for k in (1, 2, 3, 4, 5, 31, 32, 33, 100):
    kmers, counts = biogpu.count_kmers([letters], k)
    assert dict(zip(kmers.tolist(), counts.tolist())) == plain_count(letters, k), k
    assert (numpy.sort(kmers) == kmers).all() and kmers.dtype == f"S{k}" and counts.dtype == numpy.uint64
assert [len(x) for x in biogpu.count_kmers(["ACGTNACGT", "AC"], 5)] == [0, 0]
assert biogpu.count_kmers(["AAAA", "AAAA", "CCCC"], 4, min_count=2)[1].tolist() == [2]

# Potentials: forces are slopes, arrays of other types and orders do, charges matter where they should.
potential = biogpu.Potential(crystals, precision="fp64")
assert potential.cutoff > 1
positions = numpy.array([[0, 0, 0], [1.3, 1.4, 1.36]])
box = numpy.diag([5.4, 5.5, 5.6])
found = potential.compute([14, 14], positions, box=box)
step = 1e-4
slopes = numpy.zeros((2, 3))
for i in range(2):
    for axis in range(3):
        moved = [positions.copy(), positions.copy()]
        moved[0][i, axis] += step
        moved[1][i, axis] -= step
        slopes[i, axis] = -(potential.compute([14, 14], moved[0], box=box).energy -
                            potential.compute([14, 14], moved[1], box=box).energy) / (2 * step)
assert abs(slopes - found.forces).max() < 1e-5
strained = [potential.compute([14, 14], positions * [1 + sign * step, 1, 1], box=box @ numpy.diag([1 + sign * step, 1, 1])).energy
            for sign in (1, -1)]
assert abs(found.stress[0, 0] - (strained[0] - strained[1]) / (2 * step * numpy.linalg.det(box))) < 1e-6
again = potential.compute(numpy.array(["Si", "si"]), numpy.asfortranarray(positions.astype(numpy.float32)), box=box.tolist())
assert abs(again.energy - found.energy) < 1e-4
neutral, ion = (biogpu.energy(["O", "H"], [[0, 0, 0], [0.97, 0, 0]], charged, charge=charge).energy for charge in (0, -1))
assert neutral != ion
assert potential.compute([14], [[0, 0, 0]]).stress is None

# What is wrong, and said.
assert error_of(ValueError, lambda: potential.compute([14, 14], positions[:1]))
assert "'Xx' is no element" in str(error_of(ValueError, lambda: potential.compute(["Xx"], [[0, 0, 0]])))
assert error_of(biogpu.BiogpuError, lambda: potential.compute([92, 92], positions)).code == 3
assert error_of(biogpu.BiogpuError, lambda: biogpu.Potential("nowhere")).code != 0
assert error_of(biogpu.BiogpuError, lambda: biogpu.align(["ACGT"], ["ACGT"], mode="none")).code == 2
assert error_of(biogpu.BiogpuError, lambda: biogpu.run("no-such-command")).code == 2
assert error_of(ValueError, lambda: biogpu.embed({"a b": "MKT"}, protein_model))
assert error_of(ValueError, lambda: biogpu.embed(["MKT\n>x"], protein_model))
assert error_of(ValueError, lambda: biogpu.embed(["MKT"], protein_model, include="everything"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    biogpu.embed(["ACGT" * 10], protein_model)
assert [x.category for x in caught] == [biogpu.BiogpuWarning] and "looks like DNA" in str(caught[0].message)

# Commands by files, and by standard input.
biogpu.run("qc", "-q", "20", "--quiet", "-i", "data/lambda_reads.fq.gz", "-o", "clean.fq", "-j", "report.json", "-h", "report.html")
assert os.path.getsize("clean.fq") > 0
assert biogpu.run("infer", "fill-mask", "-q", "--model", protein_model, "--top", 1, text=">p\nMKT<mask>LLA\n").count("\n") == 2
print("python_package_check: all holds")
