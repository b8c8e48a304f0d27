#!/usr/bin/env bash
# Measures the GPU side of `biogpu bwt` from an installed folder.
#
# usage: scripts/bench/bwt_gpu.sh PREFIX [RESULTS] [PART ...]
#   PREFIX   the folder that cmake --install wrote, from a build with a GPU backend in developer mode
#   RESULTS  where bwt_gpu.jsonl, bwt_files.jsonl and bwt_index_*.json are written (default: results)
#   PART     device, files, human (default: device files)
#
# device: transforms, hard texts, searches; the results of CPU and GPU are compared first. files: a
# genome of 50 Mbp from file to file, the files of CPU and GPU compared, and those of bwa where BWA names it
# or it is found. human: 3.1 Gbp with repeats and gaps; 3.1 GB and twice 5.4 GB of disk in TMPDIR, 80 GB of
# host memory; BIOGPU_BENCH_CHECK=1 compares with the CPU's files, which takes 115 GB and minutes.
# BIOGPU_BENCH_BASES and BIOGPU_HUMAN_BASES set the lengths. make_genome.py needs Python 3.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
prefix=$(realpath "${1:?the installed folder}")
results=${2:-results}
mkdir -p "$results"
results=$(realpath "$results")
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- device files
test=$prefix/libexec/biogpu/tests/bwt_gpu_test
biogpu=$prefix/bin/biogpu
bwa=${BWA:-$(command -v bwa || true)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# index FORMAT DEVICE GENOME NAME: the summary and the wall seconds go to the results.
index() {
  local begin end
  begin=$(date +%s.%N)
  "$biogpu" bwt index -v -t 0 --device "$2" --format "$1" "$3" -p "$4" \
    --json "$results/bwt_index_$4.json" 2>&1 | sed 's/^/  /'
  end=$(date +%s.%N)
  awk -v what="$4" -v s="$(echo "$end $begin" | awk '{ print $1 - $2 }')" \
    'BEGIN { printf "{\"what\": \"%s\", \"wall_s\": %.3f}\n", what, s }' | tee -a "$results/bwt_files.jsonl"
}

measure_device() {
  BIOGPU_REQUIRE_GPU=1 "$test"
  BIOGPU_REQUIRE_GPU=1 "$test" '[.bench]' | tee "$results/bwt_gpu.log" | grep '^{' | tee "$results/bwt_gpu.jsonl"
  grep -q '^All tests passed' "$results/bwt_gpu.log"
}

measure_files() {
  local turn part begin
  python3 "$here/make_genome.py" --bases 50000000 --records 1 --random genome.fa
  if [ -n "$bwa" ]; then
    begin=$(date +%s.%N)
    "$bwa" index -p theirs genome.fa 2>bwa.log
    awk -v s="$(echo "$(date +%s.%N) $begin" | awk '{ print $1 - $2 }')" \
      'BEGIN { printf "{\"what\": \"bwa_index\", \"wall_s\": %.3f}\n", s }' | tee -a "$results/bwt_files.jsonl"
  else
    echo "bwt_gpu: bwa not found, left out" >&2
  fi
  for turn in 1 2 3; do
    for part in native bwa; do
      index $part gpu genome.fa ${part}_gpu
      [ "$turn" != 1 ] || index $part cpu genome.fa ${part}_cpu
    done
  done
  cmp native_cpu.bgfm native_gpu.bgfm
  for part in amb ann pac bwt sa; do
    cmp bwa_cpu.$part bwa_gpu.$part
    [ -z "$bwa" ] || cmp theirs.$part bwa_gpu.$part
  done
  echo "bwt_gpu: the index files of all are the same"
}

measure_human() {
  local part
  python3 "$here/make_genome.py" --bases "${BIOGPU_HUMAN_BASES:-3100000000}" human.fa
  index bwa gpu human.fa human_bwa_gpu
  if [ -n "${BIOGPU_BENCH_CHECK:-}" ]; then
    index bwa cpu human.fa human_bwa_cpu
    for part in amb ann pac bwt sa; do cmp human_bwa_cpu.$part human_bwa_gpu.$part; done
    rm human_bwa_cpu.*
  fi
  rm human_bwa_gpu.*
  index native gpu human.fa human_native_gpu
}

for part in "$@"; do
  case $part in
  device | files | human) "measure_$part" ;;
  *) echo "bwt_gpu: no part '$part'" >&2; exit 2 ;;
  esac
done
echo "bwt_gpu: results in $results"
