#!/usr/bin/env bash
# Outputs of `biogpu bwt` that fail: full disk, closed pipe, interruption, faults at every write. Nothing
# half-written may be left under a final name. BIOGPU_FAULT_SHIM, where set, injects the faults.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/outputs.sh
. "$source_dir/tests/cli/outputs.sh"
write_random 2 40 8000 ACGT c >genome.fa
# shellcheck disable=SC2016  # awk's own
awk '!/^>/ { for (i = 1; i + 60 < length($0); i += 20) printf ">q%d\n%s\n", ++n, substr($0, i, 60) }' \
  genome.fa >queries.fa
works bwt index -q genome.fa -p g
works bwt index -q --format bwa genome.fa -p g
works bwt transform -q genome.fa -o g.strings
works bwt transform -q --bytes genome.fa -o g.bytes

# Every subcommand that writes to standard output, and one file that it reads as standard input too.
commands=("transform -q genome.fa" "transform -q --bytes genome.fa" "inverse -q g.strings"
  "inverse -q g.bytes" "count -q -x g queries.fa" "locate -q -x g queries.fa"
  "locate -q -x g -f sam queries.fa" "locate -q -x g -f bed queries.fa" "smem -q -x g queries.fa"
  "stats g" "extract -x g c1 c2 c3")

for line in "${commands[@]}"; do
  read -ra words <<<"$line"
  stdout_full bwt "${words[@]}"
  [ -w /dev/full ] && fails 1 "No space left" bwt "${words[@]}" -o /dev/full
  closed_pipe bwt "${words[@]}"
  no_folder bwt "${words[@]}" -o nowhere/out
done
stderr_full never bwt transform -v genome.fa -o never
stderr_full never bwt transform -v --bytes genome.fa -o never
stderr_full never bwt inverse -v g.strings -o never
stderr_full never bwt count -v -x g queries.fa -o never
stderr_full never bwt smem -v -x g queries.fa -o never
stderr_full never.bgfm bwt index -v genome.fa -p never

# No output has its name where the summary cannot be written.
mkdir a_folder
[ -w /dev/full ] && ln -s /dev/full full.json.gz
for line in "${commands[@]}"; do
  read -ra words <<<"$line"
  for json in a_folder full.json.gz; do
    [ -e $json ] || continue
    fails 1 $json bwt "${words[@]}" -o never --json $json
    check "no output without its summary" absent never
  done
done
fails 1 a_folder bwt index genome.fa -p never --json a_folder
check "no index without its summary" absent never.bgfm
for format in native bwa; do
  no_folder bwt index -q --format $format genome.fa -p nowhere/g
done

interrupt_reading genome.fa bwt index -q - -p results/g
interrupt_reading genome.fa bwt index -q --format bwa - -p results/g
interrupt_reading genome.fa bwt transform -q - -o results/g
interrupt_reading genome.fa bwt transform -q --bytes - -o results/g
interrupt_reading g.strings bwt inverse -q - -o results/g
interrupt_reading queries.fa bwt count -q -x g - -o results/g
interrupt_reading queries.fa bwt locate -q -x g - -o results/g.bam
interrupt_reading queries.fa bwt smem -q -x g - -o results/g

# sweep KIND OUTPUT-OPTION ARGUMENTS...: the n-th call of KIND fails, for n = 1, 2, ... until a run makes
# fewer. What lies under a final name then is whole.
sweep() {
  local kind=$1 n file
  shift
  rm -rf whole && mkdir whole
  works bwt "$@" whole/g
  for ((n = 1; n < 500; ++n)); do
    rm -rf results hit && mkdir results
    last_command="bwt $* results/g, $kind $n failing"
    BIOGPU_FAULT=$kind:$n BIOGPU_FAULT_AFTER=genome.fa BIOGPU_FAULT_HIT=hit LD_PRELOAD=$BIOGPU_FAULT_SHIM \
      timeout 60 "$biogpu" bwt "$@" results/g >out.txt 2>err.txt
    rc=$?
    [ -e hit ] || break
    check "$kind $n: exit code 1" rc_is 1
    check "$kind $n: one error line" one_error_line
    for file in results/* results/.[!.]*; do
      [ -e "$file" ] && check "$kind $n: $file is whole" cmp "$file" "whole/${file#results/}"
    done
  done
  check "$kind: the last run works" rc_is 0
  check "$kind: the sweep ends" [ "$n" -lt 500 ]
}
if [ -n "${BIOGPU_FAULT_SHIM:-}" ]; then
  for kind in write close link; do
    sweep $kind index -q -t 1 genome.fa -p
    sweep $kind index -q -t 1 --format bwa genome.fa -p
    sweep $kind transform -q -t 1 genome.fa -o
  done
  export BIOGPU_NAMED_FILES=1
  sweep rename index -q -t 1 --format bwa genome.fa -p
fi

finish
