#!/usr/bin/env bash
# `biogpu lab`: its list, runs over shapes, results, a baseline, the plot and the commands of profilers.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

works lab list
cp out.txt list.txt
check "a heading" [ "$(head -1 list.txt)" = "block	shapes	description" ]
for name in triangle-product-out triangle-product-in triangle-attention-start triangle-attention-end pair-transition \
  pair-bias-attention outer-product-mean pair-weighted-averaging adaptive-norm conditioned-transition window-attention \
  linear-gelu linear-residual layer-norm rotary-attention; do
  check "$name is listed" grep -q "^$name	" list.txt
done

lab=(lab run --device cpu -t 2 --quick)
works "${lab[@]}" --shapes 5x16,7 --json all.json --plot all.svg
check "two rows of every block" [ "$(tail -n +3 out.txt | wc -l)" -eq $((2 * $(tail -n +2 list.txt | wc -l))) ]
check "the plot" grep -q '</svg>' all.svg
check "rates and errors" python3 -c '
import json
result = json.load(open("all.json"))
assert result["precision"] == "fp32" and result["threads"] == 2, result
for row in result["blocks"]:
    assert 0 < row["error"] < 2e-5 and abs(row["one_minus_cosine"]) < 1e-10, row
    assert row["n"] in (5, 7) and (row["n"] == 7 or row["c"] == 16), row
    assert abs(row["teraflops_per_s"] * 1e12 * row["median_s"] - row["operations"]) <= 1e-6 * row["operations"], row
    assert 0 < row["least_s"] <= row["median_s"] and row["roofline_share"] == 0, row'

# Names, variants, and a baseline, whose rows need not be all.
works "${lab[@]}" --shapes 5x16 triangle-product-out layer-norm --json some.json
check "a block with its variant" [ "$(tail -n +3 out.txt | cut -f 1 | tr '\n' ' ')" = \
  "triangle-product-out triangle-product-out:separate layer-norm " ]
works "${lab[@]}" --shapes 5x16,6x16 layer-norm --baseline some.json --json with.json
check "the baseline's device" out_has "^# baseline: "
check "no speedup of what it does not have" [ "$(tail -1 out.txt | cut -f 11)" = - ]
check "a speedup of what it has" python3 -c '
import json
rows = json.load(open("with.json"))["blocks"]
assert rows[0]["baseline_s"] > 0 and "baseline_s" not in rows[1], rows'
works "${lab[@]}" --shapes 5x16 layer-norm --peak-tflops 1 --peak-gbs 10 --plot roof.svg
check "a share of the roofline" [ "$(tail -1 out.txt | cut -f 7)" != - ]
check "a roofline" grep -q polyline roof.svg
works "${lab[@]}" --shapes 5x16 layer-norm --seed 7 --rows 2
works "${lab[@]}" --shapes 5x16 layer-norm --precision bf16
check "what a CPU computes in" out_has ", fp32$"

# What profilers are called with, and ranges by a library that has them.
works lab run layer-norm --shapes 5x16,6x16 --ncu
check "three commands a shape" n_lines_is out.txt 6
check "the range of a block" out_has "^ncu --nvtx --nvtx-include 'layer-norm 5x16/' "
works "${lab[@]}" --shapes 5x16 layer-norm --profile
check "the ranges are told" out_has "^# ranges: "
if command -v cc >/dev/null && ! is_sanitized; then
  cat >ranges.c <<'C'
#include <stdio.h>
static int depth;
int nvtxRangePushA(const char* name) { FILE* f = fopen("ranges.txt", "a"); fprintf(f, "push %s\n", name); fclose(f); return depth++; }
int nvtxRangePop(void) { FILE* f = fopen("ranges.txt", "a"); fprintf(f, "pop\n"); fclose(f); return --depth; }
C
  if cc -shared -fPIC -o libnvToolsExt.so.1 ranges.c 2>/dev/null; then
    LD_LIBRARY_PATH=$PWD works "${lab[@]}" --shapes 5x16 layer-norm linear-gelu --profile
    check "the library" out_has "^# ranges: libnvToolsExt.so.1$"
    check "a range a block" [ "$(tr '\n' ' ' <ranges.txt)" = "push layer-norm 5x16 pop push linear-gelu 5x16 pop " ]
  fi
fi

# Tuning data: chosen on GPUs alone, and a file of another kind is refused.
fails 2 "no operation has a choice on a CPU" lab run --device cpu --shapes 5x16 layer-norm --sweep --tuning never.json
fails 2 "--sweep" "${lab[@]}" --shapes 5x16 layer-norm --tuning never.json
fails 2 "--quick\|--sweep" "${lab[@]}" --shapes 5x16 layer-norm --sweep
if [ "$backend" = emulated ]; then
  sweep=(lab run --device gpu --precision bf16 --shapes 9x16 --sweep --tuning tuning.json)
  works "${sweep[@]}" triangle-product-out
  check "its columns" out_has "^block	shape	operation	type	product	products	by_rule	rule_us	other	other_us	speedup	noise	best$"
  check "a product" out_has "^triangle-product-out	9x16	matmul kr	bf16	9x9x9	16	64	"
  check "the file is told" out_has "^# tuning.json: [0-9]* tiles of emulated"
  # One product that this run does not have, and one that it has.
  cat >tuning.json <<JSON
{"kind": "biogpu tuning 1", "devices": [{"device": "emulated, wave 32", "version": "$("$biogpu" --version | grep -o '[0-9.]*[0-9]' | head -1)",
  "tiles": [{"operation": "gemm", "type": "fp16", "m": 7, "n": 7, "k": 7, "products": 1, "columns": 128, "speedup": 2},
            {"operation": "matmul kr", "type": "bf16", "m": 9, "n": 9, "k": 9, "products": 16, "columns": 128, "speedup": 2}]}]}
JSON
  BIOGPU_TUNING=tuning.json BIOGPU_EMULATED_WAVE=32 works lab run --device gpu --quick --shapes 9x16 layer-norm
  check "tuning data are told" out_has "^# tuning: tuning.json, 2 tiles$"
  BIOGPU_EMULATED_WAVE=32 works "${sweep[@]}" triangle-product-out
  check "a product that was not run stays" grep -q '"m": 7,' tuning.json
  sed 's/"columns": 128/"columns": 96/' tuning.json >odd_tuning.json
  BIOGPU_TUNING=odd_tuning.json fails 3 "odd_tuning.json: gemm has no tile of 96 columns; expected 64 or 128" \
    lab run --device gpu --quick --shapes 9x16 layer-norm --json never.json
  BIOGPU_TUNING=all.json fails 3 "all.json: no tuning data of this program" \
    lab run --device gpu --quick --shapes 9x16 layer-norm --json never.json
fi

fails 2 "no block 'nonsense'; there are triangle-product-out, triangle-product-in, " "${lab[@]}" nonsense
for shape in 0 x 5x 5x0 16385 5x16385 -5 5x16x7 1e3; do
  fails 2 "shapes" "${lab[@]}" "--shapes=$shape" layer-norm --json never.json
done
fails 2 "5 comes\|'5'" "${lab[@]}" --shapes 5,5 layer-norm
fails 2 "peak-gbs" "${lab[@]}" --peak-tflops 1 layer-norm
fails 1 "none.json" "${lab[@]}" --baseline none.json layer-norm --json never.json
printf '{"blocks": 3}' >odd.json
fails 3 "odd.json: has no list 'blocks'" "${lab[@]}" --baseline odd.json layer-norm --json never.json
fails 2 "--ncu\|--json" lab run layer-norm --ncu --json never.json
fails 2 "the same file" "${lab[@]}" --baseline some.json --json some.json layer-norm
fails 2 "svg" "${lab[@]}" --plot roof.png layer-norm
fails 2 "BLOCK\|subcommand\|lab" lab
check "nothing is left" absent never.json

# The other name of `infer bench`.
works lab bench --quick --device cpu --only "mean pool"
check "a row" out_has "^mean pool"

if [ "$backend" = emulated ]; then
  works lab run --device gpu --precision bf16 --quick --shapes 4x16 layer-norm pair-transition --json gpu.json
  check "bf16" grep -q '"precision": "bf16"' gpu.json
  check "columns of kernels" out_has "	MB	kernels	longest	share	registers	shared_KB	occupancy$"
  check "which the emulated platform does not fill" out_has "^layer-norm	4x16	.*	-	-	-	-	-	-$"
fi
finish
