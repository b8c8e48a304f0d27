#!/usr/bin/env bash
# Outputs that belong together: all get their names or none, also where one of them is a pipe whose reader goes away
#. BIOGPU_FAULT_SHIM: tests/support/fault_shim.cpp.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
shim=${BIOGPU_FAULT_SHIM:?}
write_random 8 3000 120 ACGT r >reads.fa
awk '/^>/ { sub(">", "@"); print; next } { q = $0; gsub(/./, "F", q); print $0 "\n+\n" q }' reads.fa >reads.fq
cp reads.fq mates.fq
head -40 reads.fa >few.fa
head -40 reads.fq >few.fq
mkfifo feed

# spoilt COMMANDS INPUT ARGUMENTS...: a run that reads INPUT from the pipe `feed`, in the middle of which COMMANDS
# are run.
spoilt() {
  local commands=$1 input=$2 pid
  shift 2
  last_command="biogpu $*, meanwhile: $commands"
  "$biogpu" "$@" >out.txt 2>err.txt &
  pid=$!
  {
    cat "$input"
    sleep 0.3
    eval "$commands"
  } >feed
  wait $pid
  rc=$?
}
fresh() {
  rm -rf first second && mkdir first second
}
refused() {
  check "exit code 1" rc_is 1
  check "one error line" one_error_line
  check "the line names the output and the reason" err_has "$1"
}

# The folder of a later output is removed, or a folder takes its name: no output has its name.
for modes in "" BIOGPU_NAMED_FILES=1 "BIOGPU_NAMED_FILES=1 BIOGPU_FAULT=exchange:1 BIOGPU_FAULT_AFTER=feed BIOGPU_FAULT_HIT=hit"; do
  # As on file systems without unnamed files, and without swaps of names.
  # shellcheck disable=SC2086
  [ -z "$modes" ] || export ${modes?} LD_PRELOAD="$shim"
  fresh
  spoilt "mkdir second/2.fq" few.fq qc --quiet -i feed -o first/1.fq --failed_out second/2.fq -j first/q.json -h first/q.html
  refused "second/2.fq: cannot be renamed: Is a directory"
  check "$modes: the reads have no name" rmdir first
  rmdir second/2.fq
  check "$modes: no temporary file is left" rmdir second
  fresh
  echo "an older file" >first/1.fq
  cp first/1.fq kept.fq
  chmod 640 first/1.fq
  spoilt "mkdir first/q.html" few.fq qc --quiet -i feed -o first/1.fq -j second/q.json -h first/q.html
  refused "first/q.html: cannot be renamed: Is a directory"
  check "$modes: the older file is back" same_files kept.fq first/1.fq
  check "$modes: with its permissions" [ "$(stat -c %a first/1.fq)" = 640 ]
  check "$modes: the summary has no name" rmdir second
  rmdir first/q.html
  check "$modes: nothing else is left" [ "$(ls -A first)" = 1.fq ]
  fresh
  echo older >first/x.ann
  spoilt "mkdir first/x.sa" few.fa bwt index -q --format bwa -p first/x feed
  refused "x.sa: cannot be .*: Is a directory"
  rmdir first/x.sa
  check "$modes: the index has no files but the older one" [ "$(ls -A first)" = x.ann ]
  check "$modes: the older one is back" grep -qx older first/x.ann
  fresh
  spoilt "mkdir second/s.json" few.fa align -q --mode sw feed few.fa -o first/o.tsv.gz --json second/s.json
  refused "s.json: cannot be .*: Is a directory"
  check "$modes: the rows have no name" rmdir first
  fresh
  spoilt "mkdir second/s.json" few.fa kmer count -q -m 7 -o first/o.jf --json second/s.json feed
  refused "s.json: cannot be .*: Is a directory"
  check "$modes: the database has no name" rmdir first
  # A run that works replaces all.
  fresh
  echo older >first/o.tsv
  works align -q --mode sw few.fa few.fa -o first/o.tsv --json second/s.json
  check "$modes: the older file is replaced" [ "$(ls -A first)" = o.tsv -a "$(wc -l <first/o.tsv)" -gt 20 ]
  unset BIOGPU_NAMED_FILES BIOGPU_FAULT BIOGPU_FAULT_AFTER BIOGPU_FAULT_HIT LD_PRELOAD
done

# The reader of one output goes away before the others are written: an error, and no name for the others. Of
# an only output it is none.
fresh
"$biogpu" align -q --mode sw reads.fa few.fa --json first/s.json 2>err.txt | head -1 >out.txt
rc=${PIPESTATUS[0]}
refused "standard output: its reader closed it before the other outputs were written"
check "the summary has no name" rmdir first
"$biogpu" align -q --mode sw reads.fa few.fa 2>err.txt | head -1 >out.txt
rc=${PIPESTATUS[0]}
check "an only output: exit code 0" rc_is 0
check "an only output: no line" err_is_empty
mkfifo reader
for command in "qc --quiet -i reads.fq -I mates.fq -o reader -O second/2.fq -j second/q.json -h second/q.html" \
  "qc --quiet -i reads.fq -o second/1.fq --failed_out reader -A -l 1000 -j second/q.json -h second/q.html" \
  "bwt transform -q reads.fa -o reader --json second/s.json"; do
  fresh
  timeout 30 head -c 1 reader >out.txt &
  # shellcheck disable=SC2086
  run $command
  wait
  refused "reader: its reader closed it"
  check "no other output has its name" rmdir second
done
finish
