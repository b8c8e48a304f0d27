#!/usr/bin/env bash
# Outputs of `biogpu bwt` that fail: full disk, closed pipe, interruption, faults at every write. Nothing
# half-written may be left under a final name. BIOGPU_FAULT_SHIM, where set, injects the faults.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
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
  if [ -w /dev/full ]; then
    last_command="bwt $line >/dev/full"
    "$biogpu" bwt "${words[@]}" >/dev/full 2>err.txt
    rc=$?
    check "stdout full: exit code 1" rc_is 1
    check "stdout full: one error line" one_error_line
    fails 1 "No space left" bwt "${words[@]}" -o /dev/full
  fi
  last_command="bwt $line | head -c 1"
  "$biogpu" bwt "${words[@]}" 2>err.txt | head -c 1 >out.txt
  rc=${PIPESTATUS[0]}
  check "closed pipe: exit code 0" rc_is 0
  check "closed pipe: no error line" bash -c '! grep -q "^biogpu" err.txt'
  fails 1 "nowhere" bwt "${words[@]}" -o nowhere/out
  check "nothing is made" absent nowhere
done
for format in native bwa; do
  fails 1 "nowhere" bwt index -q --format $format genome.fa -p nowhere/g
done

# Interrupted while it waits for the rest of standard input.
interrupt() {
  local signal=$1 code=$2 pid
  shift 2
  mkdir interrupted
  mkfifo pipe
  last_command="bwt $*, interrupted by $signal"
  # A shell starts background jobs with SIGINT ignored; python gives the default back.
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
    "$biogpu" bwt "$@" <pipe 2>err.txt >out.txt &
  pid=$!
  exec 9>pipe
  cat "$input" >&9
  sleep 0.2
  kill -"$signal" "$pid"
  wait "$pid"
  rc=$?
  exec 9>&-
  check "interrupted: exit code" rc_is "$code"
  check "interrupted: nothing is left" rmdir interrupted
  rm -rf interrupted pipe
}
for pair in INT:130 TERM:143; do
  input=genome.fa
  interrupt "${pair%:*}" "${pair#*:}" index -q - -p interrupted/g
  interrupt "${pair%:*}" "${pair#*:}" index -q --format bwa - -p interrupted/g
  interrupt "${pair%:*}" "${pair#*:}" transform -q - -o interrupted/g
  interrupt "${pair%:*}" "${pair#*:}" transform -q --bytes - -o interrupted/g
  input=g.strings
  interrupt "${pair%:*}" "${pair#*:}" inverse -q - -o interrupted/g
  input=queries.fa
  interrupt "${pair%:*}" "${pair#*:}" count -q -x g - -o interrupted/g
  interrupt "${pair%:*}" "${pair#*:}" locate -q -x g - -o interrupted/g.bam
  interrupt "${pair%:*}" "${pair#*:}" smem -q -x g - -o interrupted/g
done

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
  for kind in write close rename; do
    sweep $kind index -q -t 1 genome.fa -p
    sweep $kind index -q -t 1 --format bwa genome.fa -p
    sweep $kind transform -q -t 1 genome.fa -o
  done
fi

finish
