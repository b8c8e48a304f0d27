#!/usr/bin/env bash
# scripts/bench/variant_windows.py: distances of variants fit windows of any length; scores are compared before times are told.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
models=$source_dir/tests/data/models
windows() {
  last_command="variant_windows.py $*"
  python3 "$source_dir/scripts/bench/variant_windows.py" "$biogpu" --device cpu --precision fp32 --repeats 1 --threads 1 --bins centre:3 "$@" \
    >out.txt 2>err.txt
  rc=$?
}
distances() { python3 -c "import json; told = json.load(open('windows.json')); print(told['window'], told['grid'], told['step'])"; }
windows --model "$models/alphagenome_tiny" --json windows.json
check "a window of 1,024 bases" rc_is 0
check "a grid of a quarter, and steps that it has room for" [ "$(distances)" = "1024 256 4" ]
check "equal scores" out_has '^9 and 41 variants: differences of 0.0e+00 of the largest score$'
check "times" out_has '^| further_variant_s |'
windows --model "$models/alphagenome_tiny" --window 4096 --counts 1,3 --json windows.json
check "another window" [ "$(distances)" = "4096 1024 256" ]
windows --model "$models/enformer_tiny" --head human --counts 1,2 --grid 64 --step 20 --json windows.json
check "given distances" [ "$(distances)" = "1024 64 20" ]
windows --model "$models/enformer_tiny" --grid 60 --step 10
check "more variants than fit" rc_is 1
check "are refused" err_has '^41 variants at steps of 10 do not fit a grid of 60 bases$'
windows --model "$models/esm2_head16"
check "another kind of model" err_has 'esm2_head16: is no model of DNA$'
windows --model "$models/enformer_tiny" --counts 0,1
check "no variant" err_has 'argument --counts: 0 is not above 0'
finish
