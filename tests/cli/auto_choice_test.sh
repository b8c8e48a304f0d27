#!/usr/bin/env bash
# scripts/bench/auto_choice.py: it compares before it times, and tells where --device auto is slow.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
script=$source_dir/scripts/bench/auto_choice.py
grid=(--sizes 0.01 --lengths 150 --repeats 1)
python3 "$script" --biogpu "$biogpu" "${grid[@]}" --json all.json >out.txt 2>err.txt
rc=$?
check "runs of every command" rc_is 0
check "the table" out_has '^| run | cpu, s | gpu, s | auto, s | auto took | of the better |$'
check "the JSON" python3 -c 'import json
result = json.load(open("all.json"))
names = [case["name"] for case in result["cases"]]
assert len(names) == 8 and all(any(word in name for name in names) for word in ("align", "kmer", "bwt", "qc")), names
for case in result["cases"]:
    assert case["predicted"].startswith("auto: ") and set(case["runs"]) == {"cpu", "gpu", "auto"}, case
    assert case["chosen"] in ("cpu", "gpu") and case["ratio"] > 0
assert set(result["slower"]) <= set(names)'

limited=(--commands align --outputs score --resume part.jsonl)
python3 "$script" --biogpu "$biogpu" "${grid[@]}" "${limited[@]}" --limit 0 >out.txt 2>err.txt
rc=$?
check "a time limit that no run is within" rc_is 3
check "the next run is named" err_has 'the time limit ended the grid before: align sw --pairs, score'
check "no run is kept" test ! -e part.jsonl
python3 "$script" --biogpu "$biogpu" "${grid[@]}" "${limited[@]}" --json first.json >out.txt 2>err.txt
rc=$?
check "one run is kept" rc_is 0
python3 "$script" --biogpu "$biogpu" "${grid[@]}" "${limited[@]}" --limit 0 --json second.json >out.txt 2>err.txt
rc=$?
check "a kept run takes no time" rc_is 0
check "it has the figures of before" python3 -c 'import json
first, second = (json.load(open(name)) for name in ("first.json", "second.json"))
assert len(first["cases"]) == 1 and first["cases"] == second["cases"] and second["whole_grid"]'
python3 "$script" --biogpu "$biogpu" --sizes 0.01 --lengths 150 --repeats 2 "${limited[@]}" >out.txt 2>err.txt
rc=$?
check "runs with other repeats" rc_is 1
check "are not mixed with them" err_has 'part.jsonl is of another program, machine, GPU, seed or number of repeats'

# The same program on another card.
cat >on_card <<END
#!/bin/bash
[ "\$1" = devices ] || exec $(printf %q "$biogpu") "\$@"
echo "{\"devices\": [{\"name\": \"\$CARD\"}]}"
END
chmod +x on_card
on_card() {
  CARD=$1 python3 "$script" --biogpu ./on_card "${grid[@]}" --commands align --outputs score --resume card.jsonl \
    >out.txt 2>err.txt
  rc=$?
}
on_card H100
check "a run on a card is kept" rc_is 0
on_card H200
check "runs on another card" rc_is 1
check "are not mixed with those" err_has 'card.jsonl is of another program, machine, GPU'
on_card H100
check "runs on the first card again" rc_is 0

# with_other DEVICE WORDS: a program that does WORDS after a run with the device.
with_other() {
  printf '#!/bin/bash\n%q "$@" || exit\ncase " $* " in *" --device %s "*) %s ;; esac\n' "$biogpu" "$1" "$2" >biogpu
  chmod +x biogpu
  python3 "$script" --biogpu ./biogpu "${grid[@]}" --commands align --outputs score --json some.json >out.txt 2>err.txt
  rc=$?
}
with_other gpu "echo more >>gpu.tsv"
check "an output that differs" rc_is 1
check "is named" err_has 'auto_choice.py: align .*: gpu.tsv differs from cpu.tsv'
with_other gpu "rm gpu.tsv"
check "an output that is not there" rc_is 1
with_other auto "sleep 5"
check "a slow auto" rc_is 0
check "is told" out_has '^slower than the better by more than 5 %: align'
with_other nothing "true"
check "all equal and alike fast" rc_is 0
finish
