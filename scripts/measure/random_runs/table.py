"""The tables of docs/benchmarks/compare.md from summaries of scripts/compare/random."""

import collections

from measure.text import table


def random_runs(*summaries):
    """Of each peer what became of the runs; what the documented differences were; how often options were drawn."""
    peers, known, options = {}, {}, {}
    for summary in summaries:
        for name, part in summary["targets"].items():
            total = peers.setdefault(name, collections.Counter())
            total.update({"runs": part["runs"], "pairs": part["pairs_of_commands"], **part["outcomes"]})
            options.setdefault(name, collections.Counter()).update(part["options"])
            for what, one in part["documented"].items():
                if one["runs"]:
                    known.setdefault((name, what), [0, one["page"]])[0] += one["runs"]
    outcomes = ("equal", "both refused", "documented", "different")
    lines = table(["peer", "runs", "pairs of commands", *outcomes],
                  [[name, total["runs"], total["pairs"], *(total[outcome] for outcome in outcomes)]
                   for name, total in peers.items()], "lrrrrrr")
    lines += ["", *table(["peer", "documented difference", "runs", "page"],
                         [[name, what, n, page] for (name, what), (n, page) in known.items()], "llrl")]
    lines += ["", *table(["peer", "options and inputs, and in how many runs"],
                         [[name, ", ".join(f"`{option}` {n}" for option, n in drawn.most_common())]
                          for name, drawn in options.items()], "ll")]
    return lines
