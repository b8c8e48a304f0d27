#!/usr/bin/env bash
# Outputs that fail: full disk, closed pipe, folder that cannot take a file, interruption.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/outputs.sh
. "$source_dir/tests/cli/outputs.sh"
write_example
write_random 2 400 80 ACGT q >queries.fa
write_random 3 400 80 ACGT t >targets.fa

stdout_full align --mode sw q.fa t.fa
stdout_full --help
if [ -w /dev/full ]; then
  fails 1 "No space left" align --mode sw q.fa t.fa -o /dev/full
  fails 1 "No space left" align --mode sw q.fa t.fa -o rows.tsv --json /dev/full
  check "summary to a full disk: no rows either" [ ! -e rows.tsv ]
fi

closed_pipe align --mode sw queries.fa targets.fa
check "closed pipe: the first line" out_has '^query	target'
closed_pipe align --mode sw --format sam queries.fa targets.fa

no_folder align --mode sw q.fa t.fa -o nowhere/rows.tsv
no_folder align --mode sw q.fa t.fa -o nowhere/rows.bam
no_folder align --mode sw q.fa t.fa -o rows.tsv --json nowhere/summary.json
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

# Interrupted while it waits for the rest of standard input.
for signal in INT TERM; do
  make_pipe pipe
  start align --mode sw - t.fa -o results/rows.tsv <pipe
  write_random 5 300000 10 ACGT q >&9
  results_begin
  interrupt $signal
done

finish
