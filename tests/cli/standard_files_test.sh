#!/usr/bin/env bash
# Standard input, output or error closed at the start: no output lands in another file, and what cannot
# be written or read is an error.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 4 30 120 ACGT r >reads.fa
awk '/^>/ { sub(">", "@"); print; next } { q = $0; gsub(/./, "I", q); print $0 "\n+\n" q }' reads.fa >reads.fq
cp "$source_dir/data/proteins.fa" proteins.fa
works bwt index -q reads.fa -p g
works bwt index -q --format bwa reads.fa -p g

# closed WHICH ARGUMENTS...: a run with these standard files closed; leaves rc, and err.txt where it is open.
closed() {
  local which=$1
  shift
  last_command="biogpu $* with $which closed"
  : >out.txt
  : >err.txt
  case $which in
    0) "$biogpu" "$@" <&- >out.txt 2>err.txt ;;
    1) "$biogpu" "$@" >&- 2>err.txt ;;
    2) "$biogpu" "$@" >out.txt 2>&- ;;
    12) "$biogpu" "$@" >&- 2>&- ;;
    012) "$biogpu" "$@" <&- >&- 2>&- ;;
  esac
  rc=$?
}

# Verbose runs to files: the same files as with all of them open. %s is the folder of the results.
files='
bwt index -v reads.fa -p %s/g
bwt index -v --format bwa reads.fa -p %s/g
bwt locate -v -k 1 -x g reads.fa -o %s/places.tsv
bwt smem -v -x g reads.fa -o %s/matches.txt
kmer count -v -m 9 --no-provenance -o %s/counts.jf reads.fa
align -v --mode sw --self reads.fa -o %s/rows.tsv
infer embed -v --model MODEL few.fa -o %s/rows.npy
qc -i reads.fq -o %s/reads.fq -j %s/q.json -h %s/q.html
'
head -c 1200 proteins.fa | sed '$d' >few.fa
# shellcheck disable=SC2086
while read -r line; do
  [ -n "$line" ] || continue
  line=${line//MODEL/$source_dir/tests/data/models/esm2_head16}
  rm -rf results open && mkdir results open
  works ${line//%s/results}
  cp results/* open/
  for which in 0 1 2 12 012; do
    rm -rf results && mkdir results
    closed $which ${line//%s/results}
    check "$which closed: exit code 0" rc_is 0
    for file in open/*; do
      case $file in
        # These hold the time of the run.
        *.html | *.json) check "$which closed: ${file##*/} is there" test -s "results/${file##*/}" ;;
        *) check "$which closed: ${file##*/}" same_files "$file" "results/${file##*/}" ;;
      esac
    done
  done
done <<<"$files"

# Results for a standard output that is closed are lost, which no exit code 0 may hide.
for line in "--version" "--help" "align --help" "version" "align --mode sw --self reads.fa" "bwt count -q -x g reads.fa" \
  "bwt stats g" "bwt transform -q reads.fa" "kmer dump results/counts.jf" "gather reads.fa" "cite"; do
  [ "${line#kmer}" = "$line" ] || { mkdir -p results && works kmer count -q -m 9 -o results/counts.jf reads.fa; }
  # shellcheck disable=SC2086
  closed 1 $line
  check "no standard output: exit code 1" rc_is 1
  check "no standard output: one error line" one_error_line
  check "no standard output: it is named" err_has 'standard output: cannot be written'
done
rm -rf results && mkdir results
closed 1 qc -i reads.fq --stdout -j results/q.json -h results/q.html
check "no standard output for reads: exit code 1" rc_is 1
check "no standard output for reads: no report either" rmdir results
mkdir results
closed 0 bwt count -q -x g - -o results/counts.tsv
check "no standard input: exit code 1" rc_is 1
check "no standard input: it is named" err_has 'standard input: cannot be'
check "no standard input: no result" rmdir results
finish
