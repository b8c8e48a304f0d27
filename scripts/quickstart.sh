#!/usr/bin/env bash
# From a clone to a first result: installs what is missing, builds, and aligns the bundled sequences.
#
# usage: scripts/quickstart.sh [PREFIX]      where to install; default: install/ in the repository
#
# Builds the GPU backend where a toolkit is found (CUDA 12.1 or newer, or ROCm; scripts/dev/gpu_toolkit.sh
# says where it looks); the program works on the CPU in either case.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
started=$SECONDS
# shellcheck source=scripts/dev/gpu_toolkit.sh
. scripts/dev/gpu_toolkit.sh
title() { printf '\n== %s\n' "$*"; }

title "Packages"
scripts/setup.sh

preset=$(gpu_preset || echo cpu)
use_toolkit_of "$preset"
options=(-DBIOGPU_DEVELOPER_MODE=OFF -DBIOGPU_WERROR=OFF)
prefix=${1:-$root/install/$preset}
build=$root/build/quickstart-$preset
log=$root/build/quickstart-$preset.log
mkdir -p "$root/build"

# run STEP COMMAND...: quiet when it works, the last lines of its output when not.
run() {
  local step=$1 begin=$SECONDS
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "quickstart: $step failed; the whole output is in $log" >&2
    exit 1
  fi
  echo "$step: $((SECONDS - begin)) s"
}

title "Build (preset $preset)"
run configure cmake --preset "$preset" -B "$build" "${options[@]}"
run build cmake --build "$build"
run install cmake --install "$build" --prefix "$prefix"

biogpu=$prefix/bin/biogpu
out=$root/build/quickstart
mkdir -p "$out"
title "Devices"
"$biogpu" devices

title "200 reads of phage lambda, each against its place in the genome"
"$biogpu" align --mode sw --pairs --match 2 --mismatch -3 --gap-open 5 --gap-extend 2 \
  data/lambda_reads.fq.gz data/lambda_windows.fa -o "$out/reads.tsv"
scripts/show_alignments.awk -v rows=6 "$out/reads.tsv"

title "5 proteins of other species against 40 of E. coli: the best partner of each"
"$biogpu" align --mode sw --matrix blosum62 --gap-open 11 --gap-extend 1 \
  data/protein_queries.fa data/proteins.fa -o "$out/proteins.tsv"
scripts/show_alignments.awk -v best=1 "$out/proteins.tsv"

cat <<END

Done in $((SECONDS - started)) s. The program is $biogpu
The tables are $out/reads.tsv and $out/proteins.tsv
Next: $biogpu align --help
END
