"""Texts that bwt.py gives to both libraries' suffix sorts, in addition to those that the driver makes itself.

Ten copies of one random genome. With --simulate (the built simulator) and --segment (FASTA) the first tenth, fifth, two
fifths and all of a genome of mutated copies of the segment, with both strands, as `bwt index --format bwa`
sorts them. With --proteins (FASTA) a database of mutated copies of the proteins. Each may have 100 million letters.
"""

import random
import re
import subprocess
import sys

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def fasta_records(path):
    records = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith(">"):
            records.append([])
        else:
            records[-1].append(line.upper())
    return ["".join(parts) for parts in records]


def mutated_proteins(proteins, n_letters):
    """Copies of the proteins, each with 0 to 60 % of its letters drawn again, one a line."""
    generator = random.Random(20260102)
    copies, n_done = [], 0
    while n_done < n_letters:
        copy = list(generator.choice(proteins) + "\n")
        for _ in range(int(len(copy) * generator.choice((0, 0.02, 0.1, 0.3, 0.6)))):
            copy[generator.randrange(len(copy) - 1)] = generator.choice("ACDEFGHIKLMNPQRSTVWY")
        copies.append("".join(copy))
        n_done += len(copy)
    return "".join(copies)[:n_letters]


def made(args, folder):
    """Pairs of name and letters, one after the other."""
    generator = random.Random(20260103)
    yield "ten copies", "".join(generator.choices("ACGT", k=args.bases // 10)) * 10
    if args.simulate and args.segment:
        command = [args.simulate.resolve(), "genome", args.segment.resolve(), args.bases / 1e6, 70707]
        with open(folder / "copies.fa", "wb") as out:
            subprocess.run([str(c) for c in command], check=True, stdout=out)
        genome = "".join(fasta_records(folder / "copies.fa"))
        genome = re.sub("[^ACGT]", lambda _: generator.choice("ACGT"), genome)
        for tenths in (1, 2, 4, 10):
            strand = genome[: args.bases * tenths // 10]
            yield f"mutated copies, {tenths}/10", strand + strand.translate(COMPLEMENT)[::-1]
    else:
        print("sort_texts: no --simulate and --segment, mutated copies left out", file=sys.stderr)
    if args.proteins:
        yield "proteins", mutated_proteins(fasta_records(args.proteins), args.bases)
    else:
        print("sort_texts: no --proteins, left out", file=sys.stderr)
