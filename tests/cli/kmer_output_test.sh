#!/usr/bin/env bash
# Outputs of `biogpu kmer` that fail: full disk, closed pipe, interruption. Nothing half-written may be
# left under a final name.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 3 40 8000 ACGT c >genome.fa
works kmer count -q -m 21 -C -s 100k -o g.jf genome.fa
works kmer count -q -m 21 -C -o g.bgk genome.fa
works kmer sketch -o g.json genome.fa

# Every subcommand that writes a text, to standard output by default.
texts=("dump g.jf" "dump -c g.bgk" "histo g.jf" "stats g.jf" "query -s genome.fa g.jf"
  "query -s genome.fa g.bgk" "info g.jf" "info -j g.jf" "info -s g.jf" "dist g.json genome.fa"
  "count -q -m 21 genome.fa -o -" "merge g.jf g.jf -o -" "set union g.jf g.bgk -o -" "sketch genome.fa -o -"
  "bc -m 21 -s 100k genome.fa -o -")
for line in "${texts[@]}"; do
  read -ra words <<<"$line"
  if [ -w /dev/full ]; then
    last_command="kmer $line >/dev/full"
    "$biogpu" kmer "${words[@]}" >/dev/full 2>err.txt
    rc=$?
    check "stdout full: exit code 1" rc_is 1
    check "stdout full: the error says why" err_has "No space left"
  fi
  last_command="kmer $line | head -c 1"
  "$biogpu" kmer "${words[@]}" 2>err.txt | head -c 1 >out.txt
  rc=${PIPESTATUS[0]}
  check "closed pipe: exit code 0" rc_is 0
done

# Every subcommand that writes a file.
files=("count -q -m 21 -C genome.fa" "count -q -m 21 --text genome.fa" "count -q -m 55 genome.fa" "bc -m 21 -s 100k genome.fa"
  "merge g.jf g.jf" "merge -j g.jf g.jf" "set union g.jf g.bgk" "set filter g.jf -L 2" "sketch genome.fa"
  "dump g.jf" "histo g.jf" "query -s genome.fa g.jf")
for line in "${files[@]}"; do
  read -ra words <<<"$line"
  [ -w /dev/full ] && fails 1 "No space left" kmer "${words[@]}" -o /dev/full
  fails 1 "nowhere" kmer "${words[@]}" -o nowhere/out
  check "nothing is made" absent nowhere
done
fails 1 "nowhere" kmer histo --plot nowhere/g.svg g.jf

# Interrupted while it waits for the rest of standard input.
interrupt() {
  local signal=$1 code=$2 pid
  shift 2
  mkdir interrupted
  mkfifo pipe
  last_command="kmer $*, interrupted by $signal"
  # A shell starts background jobs with SIGINT ignored; python gives the default back.
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
    "$biogpu" kmer "$@" <pipe 2>err.txt >out.txt &
  pid=$!
  exec 9>pipe
  cat genome.fa >&9
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
  for name in x.jf x.bgk x.kff; do
    interrupt "${pair%:*}" "${pair#*:}" count -q -m 21 -C --max-memory 1 --tmp-dir interrupted -o interrupted/$name -
  done
  interrupt "${pair%:*}" "${pair#*:}" bc -m 21 -s 100k -o interrupted/x.bc -
  interrupt "${pair%:*}" "${pair#*:}" query -s - -o interrupted/x.txt g.jf
  interrupt "${pair%:*}" "${pair#*:}" sketch -o interrupted/x.json -
done

finish
