#!/usr/bin/env bash
# Measures the GPU side of `biogpu bwt` from an installed folder.
#
# usage: scripts/bench/bwt_gpu.sh PREFIX [RESULTS] [PART ...]
#   PREFIX   the folder that cmake --install wrote, from a build with a GPU backend in developer mode
#   RESULTS  where bwt_gpu.jsonl, bwt_files.jsonl, bwt_human.jsonl and bwt_index_*.json are written
#            (default: results), each when its part has ended well
#   PART     device, files, crossing, human (default: device files)
#
# device: transforms, hard texts, searches; the results of CPU and GPU are compared first. files: a
# genome of 50 Mbp from file to file; the files of CPU and GPU are compared before any run counts, and those
# of bwa where BWA names it or it is found. crossing: from which size on a GPU pays, its start counted, for
# 4 and 16 threads. human: 3.1 Gbp with repeats and gaps; 3.1 GB and twice 5.4 GB of disk in TMPDIR, 80 GB of
# host memory; BIOGPU_BENCH_CHECK=1 compares with the CPU's files, which takes 115 GB and minutes;
# BIOGPU_BENCH_WALKS=N has bwt_check.py look at N random places of bwa's files, which needs numpy.
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
stage=$(mktemp -d "$results/.new.XXXXXX")
trap 'rm -rf "$work" "$stage"' EXIT
cd "$work"

# make_index FORMAT DEVICE GENOME NAME [OPTION ...]: the index, which does not count.
make_index() { "$biogpu" bwt index -t 0 --device "$2" --format "$1" "$3" -p "$4" "${@:5}"; }

# record FILE NAME BEGIN END: a line with the wall seconds between two times.
record() {
  awk -v what="$2" -v begin="$3" -v end="$4" \
    'BEGIN { printf "{\"what\": \"%s\", \"wall_s\": %.3f}\n", what, end - begin }' | tee -a "$stage/$1"
}

# time_index FILE FORMAT DEVICE GENOME NAME: the summary and the wall seconds go to the results.
time_index() {
  local begin end
  begin=$(date +%s.%N)
  make_index "${@:2}" -v --json "$stage/bwt_index_$5.json" 2>&1 | sed 's/^/  /'
  end=$(date +%s.%N)
  record "$1" "$5" "$begin" "$end"
}

# same_index FIRST SECOND: the five files of bwa.
same_index() {
  local part
  for part in amb ann pac bwt sa; do cmp "$1.$part" "$2.$part"; done
}

measure_device() {
  BIOGPU_REQUIRE_GPU=1 "$test"
  BIOGPU_REQUIRE_GPU=1 "$test" '[.bench]' | tee "$stage/bwt_gpu.log" | grep '^{' | tee "$stage/bwt_gpu.jsonl"
  grep -q '^All tests passed' "$stage/bwt_gpu.log"
}

measure_files() {
  local part turn begin
  python3 "$here/make_genome.py" --bases 50000000 --records 1 --random genome.fa
  for part in native bwa; do
    make_index $part gpu genome.fa ${part}_gpu
    make_index $part cpu genome.fa ${part}_cpu
  done
  cmp native_cpu.bgfm native_gpu.bgfm
  same_index bwa_cpu bwa_gpu
  if [ -n "$bwa" ]; then
    "$bwa" index -p theirs genome.fa 2>bwa.log
    same_index theirs bwa_gpu
    begin=$(date +%s.%N)
    "$bwa" index -p theirs genome.fa 2>bwa.log
    record bwt_files.jsonl bwa_index "$begin" "$(date +%s.%N)"
  else
    echo "bwt_gpu: bwa not found, left out" >&2
  fi
  echo "bwt_gpu: the index files of all are the same"
  for turn in 1 2 3; do
    for part in native bwa; do
      time_index bwt_files.jsonl $part gpu genome.fa ${part}_gpu
      [ "$turn" != 1 ] || time_index bwt_files.jsonl $part cpu genome.fa ${part}_cpu
    done
  done
}

measure_crossing() {
  local mbp device threads begin
  python3 "$here/make_genome.py" --bases 400000000 --records 1 --random genome.fa
  for mbp in 10 20 50 100 200 400; do
    head -c "${mbp}000000" genome.fa >part.fa
    for threads in 4 16; do
      for device in cpu gpu cpu gpu; do
        begin=$(date +%s.%N)
        "$biogpu" bwt index -q -t "$threads" --device "$device" part.fa -p part
        record bwt_crossing.jsonl "native, $mbp Mbp, $threads threads, $device" "$begin" "$(date +%s.%N)"
      done
    done
  done
}

measure_human() {
  python3 "$here/make_genome.py" --bases "${BIOGPU_HUMAN_BASES:-3100000000}" human.fa
  if [ -n "${BIOGPU_BENCH_CHECK:-}" ]; then
    make_index bwa gpu human.fa human_bwa_gpu
    make_index bwa cpu human.fa human_bwa_cpu
    same_index human_bwa_cpu human_bwa_gpu
    rm human_bwa_cpu.* human_bwa_gpu.*
  fi
  time_index bwt_human.jsonl bwa gpu human.fa human_bwa_gpu
  if [ -n "${BIOGPU_BENCH_WALKS:-}" ]; then
    python3 "$here/bwt_check.py" human_bwa_gpu --walks "$BIOGPU_BENCH_WALKS" --json "$stage/bwt_check.json"
  fi
  rm human_bwa_gpu.*
  time_index bwt_human.jsonl native gpu human.fa human_native_gpu
}

for part in "$@"; do
  case $part in
  device | files | crossing | human) "measure_$part" ;;
  *) echo "bwt_gpu: no part '$part'" >&2; exit 2 ;;
  esac
  mv "$stage"/* "$results/"
done
echo "bwt_gpu: results in $results"
