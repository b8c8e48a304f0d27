#!/usr/bin/env bash
# Malformed and unreadable input: one line, the right exit code, no output file.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example

# refuses RC PATTERN QUERY TARGET [OPTIONS...]: with -o, and neither that file nor a temporary one stays.
refuses() {
  local code=$1 pattern=$2
  shift 2
  mkdir out
  fails "$code" "$pattern" align --mode sw "$@" -o out/rows.tsv
  check "no output is left" [ -z "$(ls -A out)" ]
  rm -r out
}

refuses 1 "missing.fa.*No such file" missing.fa t.fa
refuses 1 "missing.fa.*No such file" q.fa missing.fa
mkdir folder
refuses 1 "folder" folder t.fa

printf '@r1\nACGT\n+\nIIII\n@r2\nACGT\n+\nIII\n' >short_quality.fq
refuses 3 "short_quality.fq.*record 2" short_quality.fq t.fa
printf '@r1\nACGT\n+\nIIII\n@r2\nACGT\n' >cut.fq
refuses 3 "cut.fq.*record 2" cut.fq t.fa
printf '@r1\nACGT\nIIII\n@r2\n' >no_plus.fq
refuses 3 "no_plus.fq.*record 1" no_plus.fq t.fa
printf 'hello world\n' >text.txt
refuses 3 "text.txt" text.txt t.fa
printf '>a\nAC\001GT\n' >control.fa
refuses 3 "control.fa.*record 1" control.fa t.fa
refuses 3 "control.fa.*record 1" q.fa control.fa

write_random 1 2000 100 ACGT r >many.fa
gzip -c many.fa | head -c 5000 >cut.fa.gz
refuses 3 "cut.fa.gz: .*cut short" cut.fa.gz t.fa
head -c 20000 /dev/zero | gzip -c | head -c 15 >header_only.fa.gz
refuses 3 "header_only.fa.gz" header_only.fa.gz t.fa

printf '>q3\nACGT\n' | cat q.fa - >three.fa
refuses 3 "t.fa: ends after record 2, but three.fa has more" --pairs three.fa t.fa
refuses 3 "q.fa: ends after record 2, but three.fa has more" --pairs q.fa three.fa
refuses 3 "expects as many" --pairs q.fa /dev/null

refuses 1 "targets with their names take more than" --max-memory 100k many.fa many.fa

finish
