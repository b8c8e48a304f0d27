#!/usr/bin/env bash
# Outputs that fail: full disk, closed pipe, folder that cannot take a file, interruption.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example
write_random 2 400 80 ACGT q >queries.fa
write_random 3 400 80 ACGT t >targets.fa

if [ -w /dev/full ]; then
  fails 1 "No space left" align --mode sw q.fa t.fa -o /dev/full
  last_command="align > /dev/full"
  "$biogpu" align --mode sw q.fa t.fa >/dev/full 2>err.txt
  rc=$?
  check "stdout full: exit code 1" rc_is 1
  check "stdout full: one error line" one_error_line
  "$biogpu" --help >/dev/full 2>err.txt
  rc=$?
  check "help to a full disk: exit code 1" rc_is 1
  fails 1 "No space left" align --mode sw q.fa t.fa -o rows.tsv --json /dev/full
  check "summary to a full disk: no rows either" [ ! -e rows.tsv ]
fi

last_command="align | head -1"
"$biogpu" align --mode sw queries.fa targets.fa 2>err.txt | head -1 >out.txt
rc=${PIPESTATUS[0]}
check "closed pipe: exit code 0" rc_is 0
check "closed pipe: no error line" bash -c '! grep -q "^biogpu" err.txt'
check "closed pipe: the first line" out_has '^query	target'
"$biogpu" align --mode sw --format sam queries.fa targets.fa 2>err.txt | head -1 >out.txt
rc=${PIPESTATUS[0]}
check "closed pipe, SAM: exit code 0" rc_is 0
check "closed pipe, SAM: no error line" bash -c '! grep -q "^biogpu" err.txt'

fails 1 "nowhere" align --mode sw q.fa t.fa -o nowhere/rows.tsv
fails 1 "nowhere" align --mode sw q.fa t.fa -o nowhere/rows.bam
fails 1 "nowhere" align --mode sw q.fa t.fa -o rows.tsv --json nowhere/summary.json
check "no place for the summary: no rows either" [ ! -e rows.tsv ]
fails 2 "the same file" align --mode sw q.fa t.fa -o rows.tsv --json rows.tsv
fails 1 "q.fa/rows.tsv" align --mode sw q.fa t.fa -o q.fa/rows.tsv
mkdir folder
fails 1 "folder" align --mode sw q.fa t.fa -o folder
if [ "$(id -u)" -ne 0 ]; then
  chmod a-w folder
  fails 1 "Permission denied" align --mode sw q.fa t.fa -o folder/rows.tsv
  chmod u+w folder
fi

# An old result stays until the new one is whole.
echo old >rows.tsv
fails 3 "ends after" align --mode sw --pairs queries.fa t.fa -o rows.tsv
check "the old file is untouched" grep -qx old rows.tsv
works align --mode sw q.fa t.fa -o rows.tsv
check "the new file replaces it" grep -q '^q2	t2' rows.tsv

# Interrupted while it waits for standard input.
for pair in INT:130 TERM:143; do
  mkdir interrupted
  mkfifo pipe
  last_command="align interrupted by ${pair%:*}"
  # A shell starts background jobs with SIGINT ignored; python gives the default back.
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
    "$biogpu" align --mode sw - t.fa -o interrupted/rows.tsv <pipe 2>err.txt &
  pid=$!
  exec 9>pipe
  write_random 5 300000 10 ACGT q >&9
  for _ in $(seq 100); do
    [ -n "$(ls -A interrupted)" ] && break
    sleep 0.05
  done
  check "a temporary file is there" [ -n "$(ls -A interrupted)" ]
  kill -"${pair%:*}" "$pid"
  wait "$pid"
  rc=$?
  exec 9>&-
  check "interrupted: exit code" rc_is "${pair#*:}"
  check "interrupted: nothing is left" [ -z "$(ls -A interrupted)" ]
  rm -r interrupted pipe
done

finish
