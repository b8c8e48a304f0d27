#!/usr/bin/env bash
# Tests and measures an installed biogpu on a machine with a GPU; needs nothing but the folder.
#
# usage: scripts/gpu_test.sh [--no-bench] [PREFIX] [RESULTS]
#   PREFIX   the folder that cmake --install wrote, from a build with a GPU backend in developer mode
#            (default: the folder that this script was installed in, else install/cuda)
#   RESULTS  where benchmark results are written as JSON (default: results/ in the current folder), and, if all passed,
#            platforms.tsv: what was tested on which system and GPU, for scripts/measure/platforms.py
#
# Ends with 'N passed, N failed'; exit status 1 when anything failed or no GPU was found.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bench=1
if [ "${1:-}" = --no-bench ]; then bench=0; shift; fi
if [ -n "${1:-}" ]; then
  prefix=$1
elif [ -x "$here/../../bin/biogpu" ]; then
  prefix=$(cd "$here/../.." && pwd)
else
  prefix=$here/../install/cuda
fi
results=${2:-results}
biogpu=$prefix/bin/biogpu
data=$prefix/share/biogpu/data
models=$prefix/libexec/biogpu/tests/models
if [ -d tests/data/models ]; then models=tests/data/models; fi
[ -x "$biogpu" ] || { echo "gpu_test: no program at $biogpu" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"
rm -f "$results/platforms.tsv"

# Where the tests of models find theirs, when it is run from the source tree's root.
if [ -d tests/data ]; then export BIOGPU_TEST_DATA=$PWD/tests/data; fi

# A test that finds no GPU fails instead of being skipped.
export BIOGPU_REQUIRE_GPU=1
n_passed=0
n_failed=0

# check NAME COMMAND...: counts the outcome; shows the command's last lines when it failed.
check() {
  local name=$1 started=$SECONDS
  shift
  if "$@" >"$work/log" 2>&1; then
    n_passed=$((n_passed + 1))
    echo "passed  $name ($((SECONDS - started)) s)"
  else
    n_failed=$((n_failed + 1))
    echo "FAILED  $name"
    tail -n 25 "$work/log" | sed 's/^/        /'
  fi
}

# same_bytes FORMAT OPTIONS... QUERY TARGET: the GPU's output against the CPU's. The SAM header names
# the command, so its @PG line is left out.
same_bytes() {
  local format=$1 device
  shift
  for device in cpu gpu; do
    "$biogpu" align --quiet --device "$device" --format "$format" "$@" -o - |
      grep -v '^@PG' >"$work/$device.out" || return 1
  done
  [ -s "$work/gpu.out" ] && cmp "$work/cpu.out" "$work/gpu.out"
}

# same_qc OPTIONS...: reads and report of the GPU against the CPU's.
same_qc() {
  local device
  for device in cpu gpu; do
    "$biogpu" qc --quiet --device "$device" "$@" -i "$data/lambda_reads.fq.gz" -o "$work/$device.fq" \
      -j "$work/$device.json" -h "$work/report.html" || return 1
  done
  [ -s "$work/gpu.fq" ] && cmp "$work/cpu.fq" "$work/gpu.fq" &&
    diff <(grep -v '"command"' "$work/cpu.json") <(grep -v '"command"' "$work/gpu.json")
}

# near BOUNDS GOT EXPECTED: tables with the same text but in the columns of BOUNDS. Each is NUMBER=BOUND:SCALE, of a
# number's own size (size), of the standard deviation of the expected column (spread), or as it is (one).
near() {
  awk -F '\t' -v bounds="$1" '
    BEGIN {
      n = split(bounds, pairs, " ")
      for (i = 1; i <= n; ++i) {
        split(pairs[i], pair, /[=:]/)
        bound[pair[1]] = pair[2]
        scale[pair[1]] = pair[3]
      }
    }
    function fail(what) { print "row " FNR ": " what; exit (bad = 1) }
    function is_number(text) { return text ~ /^-?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/ }
    NR == FNR {
      right[n_rows = FNR] = $0
      for (c in bound) if (is_number($c)) { ++count[c]; sum[c] += $c; squares[c] += $c * $c }
      next
    }
    {
      n_fields = split(right[FNR], expected, "\t")
      if (FNR > n_rows || NF != n_fields) fail(NF " fields for " n_fields + 0)
      for (c = 1; c <= NF; ++c) {
        if ($c == expected[c]) { n_near += c in bound && is_number($c); continue }
        if (!(c in bound) || !is_number($c) || !is_number(expected[c])) fail($c " for " expected[c])
        limit = scale[c] == "one" ? 1 : expected[c] < 0 ? -expected[c] : expected[c] + 0
        if (scale[c] == "spread") limit = sqrt((squares[c] - sum[c] * sum[c] / count[c]) / count[c])
        error = $c > expected[c] ? $c - expected[c] : expected[c] - $c
        if (!(error <= bound[c] * limit)) fail($c " for " expected[c] " within " bound[c] * limit)
        ++n_near
      }
    }
    END {
      if (!bad && FNR == n_rows && n_near > 0) exit 0
      print FNR " of " n_rows + 0 " rows, " n_near + 0 " numbers"
      exit 1
    }
  ' "$3" "$2"
}

# near_model BOUNDS COMMAND OPTIONS...: a table of `biogpu infer` on the GPU and on the CPU. TABLE stands for its name.
near_model() {
  local bounds=$1 command=$2 device
  shift 2
  for device in cpu gpu; do
    "$biogpu" infer "$command" --quiet --device $device "${@/TABLE/$work/$device.tsv}" || return 1
  done
  near "$bounds" "$work/gpu.tsv" "$work/cpu.tsv"
}

"$biogpu" version || true
"$biogpu" devices
check "devices: a usable GPU" "$biogpu" align --quiet --device gpu --mode nw --pairs \
  "$data/lambda_reads.fq.gz" "$data/lambda_windows.fa" -o /dev/null

n_tests=0
for test in "$prefix"/libexec/biogpu/tests/*; do
  if [ ! -f "$test" ] || [ ! -x "$test" ]; then continue; fi
  check "$(basename "$test")" "$test"
  n_tests=$((n_tests + 1))
done
# A folder without tests proves nothing: it came from a build outside developer mode.
check "the folder holds tests" [ $n_tests -gt 0 ]

dna=(--match 2 --mismatch -3 --gap-open 5 --gap-extend 2)
protein=(--matrix blosum62 --gap-open 11 --gap-extend 1)
reads=("$data/lambda_reads.fq.gz" "$data/lambda_windows.fa")
proteins=("$data/protein_queries.fa" "$data/proteins.fa")
for mode in nw sg sw sg_qx sg_dx sg_qb_de; do
  for output in score ends cigar; do
    check "align $mode $output: read pairs, same bytes as the CPU" \
      same_bytes tsv --mode $mode --output $output --pairs "${dna[@]}" "${reads[@]}"
    check "align $mode $output: proteins, same bytes as the CPU" \
      same_bytes tsv --mode $mode --output $output "${protein[@]}" "${proteins[@]}"
  done
  check "align $mode: SAM of read pairs, same bytes as the CPU" \
    same_bytes sam --mode $mode --pairs "${dna[@]}" "${reads[@]}"
  check "align $mode: read pairs in batches of 7, same bytes as the CPU" \
    same_bytes tsv --mode $mode --pairs --batch 7 "${dna[@]}" "${reads[@]}"
  check "align $mode: reads against the genome, same bytes as the CPU" \
    same_bytes tsv --mode $mode "${dna[@]}" "$data/lambda_reads.fq.gz" "$data/lambda.fa"
done

for options in "" "-5 -3 -g -x -y" "-D -r -q 20" "-f 3 -t 2 -b 90 -p"; do
  # shellcheck disable=SC2086  # several options
  check "qc $options: same reads and numbers as the CPU" same_qc $options
done

# Small models with random weights. Bounds are the sums of those that docs/models and tests/models/tensornet have for the
# CPU and for a GPU in fp32: of a track's spread, 1e-5 of the unit of the model for each of 5 atoms, of the largest force.
check "there are models" [ -d "$models/enformer_tiny" ]
cat >"$work/five.xyz" <<'END'
5

C 0 0 0
H 0.63 0.63 0.63
H -0.63 -0.63 0.63
H -0.63 0.63 -0.63
O 0.72 -0.72 -0.8
END
tracks=$(for c in 3 4 5 6 7 8 9; do printf '%s=3e-4:spread ' $c; done)
check "infer tracks: the numbers of the CPU within bounds" near_model "$tracks" tracks --model "$models/enformer_tiny" \
  --head human "$models/enformer_tiny/windows.fa" -o TABLE
check "infer energy: the numbers of the CPU within bounds" near_model "3=1e-4:one 4=4e-5:size" energy \
  --units kcal/mol --model "$models/tensornet/o3" --forces "$work/five.xyz" -o TABLE
check "infer md: the numbers of the CPU within bounds" near_model "4=1e-4:one 5=4e-5:size 6=1e-4:one 7=4e-5:size" md \
  --units kcal/mol --model "$models/tensornet/o3" --temperature 300 --timestep 0.2 --steps 20 --every 5 \
  "$work/five.xyz" -o "$work/run.extxyz" --table TABLE

if [ $bench = 1 ] && [ -x "$prefix/bin/biogpu-bench" ]; then
  check "biogpu-bench limits" "$prefix/bin/biogpu-bench" limits --json "$results/limits.json"
  tail -n 40 "$work/log"
  check "biogpu-bench align" "$prefix/bin/biogpu-bench" align --json "$results/align_gpu.json"
  tail -n 60 "$work/log"
  check "biogpu-bench qc" "$prefix/bin/biogpu-bench" qc --json "$results/qc_device.json"
  tail -n 12 "$work/log"
fi

# What is recorded for docs/platforms.md: the commit of the program, the system's name and the GPU's as platforms.py writes them.
if [ $n_failed = 0 ]; then
  # shellcheck source=/dev/null
  system=$(. /etc/os-release && echo "x86-64 ${ID^} ${VERSION_ID:-}")
  [ "$(uname -m)" = x86_64 ] || system=arm64
  card=$("$biogpu" devices | awk -F '\t' 'NR > 1 && $8 == "yes" { print $2 "\t" $3; exit }')
  architecture=${card#*$'\t'}
  tested="$n_tests test programs of kernels and $((n_passed - n_tests)) other checks of $(basename "$0")"
  case $architecture in
    sm_*) architecture="NVIDIA $architecture" ;;
    gfx*) architecture="AMD $architecture" ;;
  esac
  commit=$("$biogpu" version | sed -n 's/^commit: //p')
  {
    printf '# %s %s\n' "$(date +%F)" "${commit:-unknown}"
    printf '%s\tall\trun\t%s\n' "$system" "$tested, with an ${card%%$'\t'*}" "$architecture" \
      "${card%%$'\t'*}, ${system#x86-64 }: $tested"
  } >"$results/platforms.tsv"
fi

echo "$n_passed passed, $n_failed failed"
[ $n_failed = 0 ]
