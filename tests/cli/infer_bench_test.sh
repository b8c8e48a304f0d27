#!/usr/bin/env bash
# `biogpu infer bench`: its rows, their errors against the reference, and the choice among them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# errors_below BOUND: of all rows of ops.json, which are true errors and so not nothing, but where numbers are only
# moved, compared, counted, or summed in double precision in the order of the reference.
# shellcheck disable=SC2317  # called by check
errors_below() {
  python3 -c '
import json, sys
ops = json.load(open("ops.json"))["ops"]
exact = ("append rows", "argmax", "eigen 3x3", "fill zero", "gather rows", "map: add", "map: scale and shift",
         "max pool", "nearest rows", "neighbour list", "neighbour list of images", "pair add", "permute channels first",
         "permute heads", "range sum", "repeat rows", "row scale", "sample", "segment order")
bad = [op for op in ops if not (0 if op["op"] in exact else 1e-12) <= op["error"] < float(sys.argv[1])]
sys.exit(f"{bad}" if bad or not ops else 0)' "$1"
}

works infer bench --quick --device cpu --json ops.json
check "errors of fp32" errors_below 1e-5
# Behind the two lines of the heading.
n_ops=$(grep -c '^BIOGPU_OP(' "$source_dir/lib/ops/ops.def")
check "a row an operation" test "$(tail -n +3 out.txt | wc -l)" -ge "$n_ops"
check "rates are what the table has" python3 -c '
import json
for op in json.load(open("ops.json"))["ops"]:
    for rate, amount, unit in (("gigabytes_per_s", "bytes", 1e9), ("teraflops_per_s", "operations", 1e12)):
        assert abs(op[rate] * unit * op["seconds"] - op[amount]) <= 1e-6 * op[amount], op'

# Every name that is printed can be chosen, whole or in part.
tail -n +3 out.txt | cut -f 1 | sort -u >names.txt
check "as many names" test "$(wc -l <names.txt)" -ge "$n_ops"
while read -r name; do
  works infer bench --quick --device cpu --only "$name"
  check "rows of '$name' alone" bash -c "! tail -n +3 out.txt | cut -f 1 | grep -qvF '$name'"
  check "a row of '$name'" out_has "^$name	"
done <names.txt
works infer bench --quick --device cpu --precision fp16 --only softmax --json half.json
check "what a CPU computes in" grep -q '"precision": "fp32"' half.json
works infer bench --quick --device cpu --only softmax
check "a part of a name" out_has '^log softmax	'
fails 2 "no operation's name holds 'nonsense'; expected a part of: adaptive mean, norm + cast, " infer bench --device cpu \
  --only nonsense --json never.json
check "no results after an error" absent never.json

# A model that is not timed here, with what tells its time.
models=$source_dir/tests/data/models
for model in alphagenome_tiny enformer_tiny; do
  fails 2 "is not timed by bench, only models of proteins and ProteinMPNN; 'biogpu infer tracks --json FILE' writes the time" \
    infer bench --device cpu --model "$models/$model"
done
fails 2 "'biogpu infer energy --json FILE' writes the time of a run" infer bench --device cpu --model "$models/tensornet/o3"
python3 "$source_dir/tests/support/random_proteinmpnn.py" mpnn
fails 2 "ProteinMPNN is timed with --structure FILE" infer bench --device cpu --model mpnn
fails 2 "ESM-2 is timed without --structure" infer bench --device cpu --model "$models/esm2_head16" --structure a.pdb

if [ "$backend" = emulated ]; then
  for name in "embed + norm" "norm + cast" softmax mean; do
    works infer bench --quick --device gpu --precision fp32 --only "$name" --json ops.json
    check "errors of '$name' in fp32" errors_below 1e-5
    works infer bench --quick --device gpu --precision fp16 --only "$name" --json ops.json
    check "errors of '$name' in fp16" errors_below 1e-2
  done
fi

finish
