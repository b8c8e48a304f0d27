#!/usr/bin/env bash
# scripts/bench/two_builds.py: it compares the outputs of two programs before it times them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
script=$source_dir/scripts/bench/two_builds.py
grid=(--sizes 0.01 --lengths 150 --repeats 1)
python3 "$script" --biogpu "$biogpu" --before "$biogpu" "${grid[@]}" --json all.json >out.txt 2>err.txt
rc=$?
check "runs of every command" rc_is 0
check "the table" out_has '^| run | before, s | now, s | before, CPU s | now, CPU s | wall ratio | CPU ratio |$'
check "the JSON" python3 -c 'import json
result = json.load(open("all.json"))
names = [case["name"] for case in result["cases"]]
assert len(names) == 8 and all(any(word in name for name in names) for word in ("align", "kmer", "bwt", "qc")), names
for case in result["cases"]:
    assert set(case["runs"]) == {"before", "biogpu"} and case["ratio_wall"] > 0 and case["ratio_cpu"] > 0, case
assert set(result["slower"]) <= set(names)'
printf '#!/bin/bash\n%q "$@" || exit\necho more >>biogpu.tsv\n' "$biogpu" >changed
chmod +x changed
python3 "$script" --biogpu ./changed --before "$biogpu" "${grid[@]}" --commands align --outputs score >out.txt 2>err.txt
rc=$?
check "an output that differs" rc_is 1
check "is named" err_has 'two_builds.py: align .*: biogpu.tsv differs from before.tsv'
finish
