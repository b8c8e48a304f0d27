#!/usr/bin/env bash
# Measures the GPU side of `biogpu bwt` from an installed folder; needs nothing else.
#
# usage: scripts/bench/bwt_gpu.sh PREFIX [RESULTS]
#   PREFIX   the folder that cmake --install wrote, from a build with a GPU backend in developer mode
#   RESULTS  where bwt_gpu.jsonl and bwt_index_*.json are written (default: results)
#
# The equality of CPU and GPU is checked first; nothing is timed where it fails. 3 GB of host memory, 20 GB of
# device memory, about two minutes; BIOGPU_BENCH_BASES sets the length of the largest text.
set -euo pipefail

prefix=$(realpath "${1:?the installed folder}")
results=${2:-results}
mkdir -p "$results"
results=$(realpath "$results")
test=$prefix/libexec/biogpu/tests/bwt_gpu_test
biogpu=$prefix/bin/biogpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

BIOGPU_REQUIRE_GPU=1 "$test"
BIOGPU_REQUIRE_GPU=1 "$test" '[.bench]' | grep '^{' | tee "$results/bwt_gpu.jsonl"

# From file to file: a random genome of 50 Mbp, the same files from both.
awk 'BEGIN { srand(5); print ">genome"
  for (i = 0; i < 250000; ++i) {
    line = ""
    for (j = 0; j < 50; ++j) line = line substr("AAAACAAGAATAACACCACGACTAGAGCAGGAGTATATCATGATT", 1 + 4 * int(rand() * 11), 4)
    print line
  }
}' >genome.fa
for format in native bwa; do
  for device in cpu gpu; do
    "$biogpu" bwt index -q -t 0 --device "$device" --format "$format" genome.fa -p "$format.$device" \
      --json "$results/bwt_index_${format}_$device.json"
  done
done
cmp native.cpu.bgfm native.gpu.bgfm
for part in amb ann pac bwt sa; do cmp "bwa.cpu.$part" "bwa.gpu.$part"; done
echo "bwt_gpu: the files of both are the same; results in $results"
