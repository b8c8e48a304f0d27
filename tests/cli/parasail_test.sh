#!/usr/bin/env bash
# `biogpu align parasail` against parasail_aligner itself, file by file, where that is installed; and
# its own options and errors everywhere.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Related sequences: every second one is a changed copy of the one before.
write_related() { # SEED N LENGTH LETTERS NAME
  awk -v seed="$1" -v n="$2" -v size="$3" -v letters="$4" -v name="$5" 'BEGIN {
    srand(seed)
    for (i = 0; i < n; ++i) {
      copy = ""
      for (j = 1; j <= size; ++j) {
        letter = substr(letters, 1 + int(rand() * length(letters)), 1)
        old = i % 2 ? substr(text, j, 1) : ""
        draw = rand()
        if (old == "" || draw < 0.1) copy = copy letter
        else if (draw < 0.15) copy = copy old letter
        else if (draw > 0.05 + 0.15) copy = copy old
      }
      text = copy
      printf ">%s%d some words\n%s\n", name, i, text
    }
  }'
}
write_related 1 8 60 ACGT t >dna_t.fa
write_related 2 5 45 ACGTacgtN q | sed 's/T/U/2' >dna_q.fa
awk 'NR % 2 == 0 {print ">c" NR "\n" substr($0, 11) "ACGT"}' dna_t.fa >>dna_q.fa
write_related 3 8 70 ARNDCQEGHILKMFPSTWYVBZX t >prot_t.fa
write_related 4 3 50 ARNDCQEGHILKMFPSTWYVJ q >prot_q.fa
awk 'NR % 2 == 0 {print ">c" NR "\n" "MK" substr($0, 5, 50)}' prot_t.fa >>prot_q.fa
awk 'NR % 2 {name = substr($1, 2)} NR % 2 == 0 {
  quality = $0; gsub(/./, "I", quality); print "@" name "\n" $0 "\n+\n" quality}' dna_q.fa >dna_q.fq
printf 'A C G T N *\nA 5 -4 -3 -4 0 -6\nC -4 6 -4 -2 0 -6\nG -3 -4 5 -4 0 -6\nT -4 -2 -4 6 0 -6\nN 0 0 0 0 0 -6\n* -6 -6 -6 -6 -6 1\n' >custom.txt

# A pipe that never holds anything: parasail_aligner reads a standard input that it could read.
mkfifo idle
exec 3<>idle

n_compared=0
# same_as_parasail NORMALISE ARGUMENTS...: both programs, then cmp of what they leave.
same_as_parasail() {
  local normalise=$1
  shift
  rm -f theirs.out ours.out
  parasail_aligner -t 1 -g theirs.out "$@" <&3 >theirs.log 2>&1
  run align parasail -g ours.out "$@"
  n_compared=$((n_compared + 1))
  check "parasail $*: exit code 0" rc_is 0
  check "parasail $*: same file" cmp <($normalise theirs.out) <($normalise ours.out)
}

# same_tables ARGUMENTS...: the file of rows, and the files of scores that both programs leave.
same_tables() {
  same_as_parasail cat "$@"
  rm -rf parasail_*.txt theirs.tables && mkdir theirs.tables
  parasail_aligner -t 1 -g theirs.out "$@" <&3 >theirs.log 2>&1
  mv parasail_*.txt theirs.tables
  run align parasail -g ours.out "$@"
  rm -rf ours.tables && mkdir ours.tables && mv parasail_*.txt ours.tables
  check "parasail $*: same tables" diff -r theirs.tables ours.tables
}

# Undo the leading gap of a local path that begins at residue 0.
# shellcheck disable=SC2317  # called through same_as_parasail
without_leading_gap() {
  awk -F'\t' -v OFS='\t' '$1 !~ /^@/ && $6 ~ /^[0-9]+[DI]/ {
    match($6, /^[0-9]+/); size = substr($6, 1, RLENGTH); op = substr($6, RLENGTH + 1, 1)
    rest = substr($6, RLENGTH + 2)
    if (op == "D") $4 += size
    $6 = (op == "I" ? size "S" : "") rest
    split($13, tag, ":"); $13 = "NM:i:" tag[3] - size
  } {print}' "$1"
}
# shellcheck disable=SC2317
without_begins() { sed 's/target_begin: [0-9]*//; s/query_begin: [0-9]*//' "$1"; }

modes='nw sg sg_qb sg_qe sg_qx sg_db sg_de sg_dx sg_qb_de sg_qe_db sg_qb_db sg_qe_de sw'
compare() {
  for mode in $modes; do
    same_as_parasail cat -x -f prot_t.fa -q prot_q.fa -a "${mode}_striped_16"
    same_as_parasail cat -x -f dna_t.fa -q dna_q.fa -a "${mode}_stats_scan_16" -d -M 2 -X 3 -o 5 -e 2
    local sam=cat ssw=cat
    [ "$mode" = sw ] && sam=without_leading_gap ssw=without_begins
    same_as_parasail $sam -x -f prot_t.fa -q prot_q.fa -a "${mode}_trace_striped_16" -O SAMH
    same_as_parasail $sam -x -f dna_t.fa -q dna_q.fq -a "${mode}_trace_scan_16" -O SAM -d -M 2 -X 3 -o 5 -e 5
    same_as_parasail cat -x -f prot_t.fa -q prot_q.fa -a "${mode}_trace_striped_16" -O EMBOSS -m pam120
    same_as_parasail $ssw -x -f dna_t.fa -a "${mode}_trace_striped_16" -O SSW -m dnafull -A TU
  done
  for arguments in "-a sw_stats_striped_16" "-a nw_scan_16" "-a sw_striped_profile_sat -o 5 -e 2" \
    "-a sw_stats_striped_16 -E" "-a nw_stats_striped_16 -E -l 50 -s 20 -i 10" \
    "-a sw_stats_striped_16 -G -l 50 -s 20 -i 10" "-a sw_striped_16 -p" "-a sg_rowcol_striped_16" \
    "-a sw_stats_striped_32 -b 3" "-a nw_striped_16 -m blosumn -o 14 -e 2"; do
    for cutoff in -x "-c 3" "-c 10"; do
      # shellcheck disable=SC2086
      same_as_parasail cat -f prot_t.fa $cutoff $arguments
    done
  done
  for arguments in "" "-p" "-C" "-c 5" "-c 9 -C" "-c 12" "-m custom.txt" "-m nuc44 -C" "-d -C -M 2 -X 1"; do
    # shellcheck disable=SC2086
    same_as_parasail cat -f dna_t.fa -q dna_q.fa -a sw_stats_scan_16 $arguments
  done
  same_as_parasail cat -x -f dna_t.fa -q dna_q.fa -a nw_trace_scan_16 -O EMBOSS -m custom.txt -C
  for mode in $modes; do
    same_tables -x -f dna_t.fa -q dna_q.fa -a "${mode}_table_scan_16" -d -M 2 -X 3 -o 5 -e 2
    same_tables -f prot_t.fa -c 5 -a "${mode}_stats_table_striped_16"
  done
}
if command -v parasail_aligner >/dev/null; then
  compare
  echo "$n_compared files compared with parasail_aligner"
else
  echo "parasail_aligner is not installed: nothing compared"
fi

# What is ours alone.
works align parasail -x -f dna_t.fa -q dna_q.fa
check "default output file" exists parasail.csv
works align parasail -h
check "help" out_has '^Usage: biogpu align parasail'
works align parasail -x -f dna_t.fa -a nw_banded -k 5 -g banded.csv
check "nw_banded works" n_lines_is banded.csv 28
printf '>q\nACG\n>t\nAC\n' >tiny.fa
works align parasail -x -f tiny.fa -a nw_table_striped_16 -d -M 2 -X 3 -o 5 -e 2 -g tiny.csv
check "a table" cmp parasail_0_1.txt <(printf '    A   C\nA   2  -3\nC  -3   4\nG  -5  -1\n')
ln -s "$biogpu" parasail_aligner
./parasail_aligner -x -f dna_t.fa -q dna_q.fa -g linked.csv <&3
check "a link of that name" same_files linked.csv parasail.csv
fails 2 "unknown option -Z" align parasail -f dna_t.fa -Z
fails 2 "option -f requires" align parasail -f
fails 2 "missing input file" align parasail -q dna_q.fa
fails 2 "function not found" align parasail -f dna_t.fa -a sw_stripy_16
fails 2 "select trace output" align parasail -f dna_t.fa -a sw_trace_striped_16
fails 2 "requires an alignment function" align parasail -f dna_t.fa -O SAM
fails 2 "edge or graph" align parasail -f dna_t.fa -a sw_striped_16 -E
fails 2 "pairs of letters" align parasail -f dna_t.fa -A TUx -g aliases.csv
fails 1 "no alignment work" align parasail -f dna_t.fa -c 1000 -g none.csv
check "no file for no work" absent none.csv

cp dna_q.fa kept_q.fa
ln -s dna_t.fa link_t.fa
printf '   A C G T\nA  2 0 0 0\nC  0 2 0 0\nG  0 0 2 0\nT  0 0 0 2\n' >scores.txt
fails 2 "-q and -g name the same file" align parasail -x -f dna_t.fa -q dna_q.fa -g dna_q.fa
fails 2 "-f and -g name the same file" align parasail -x -f dna_t.fa -q dna_q.fa -g link_t.fa
fails 2 "-m and -g name the same file" align parasail -x -f dna_t.fa -q dna_q.fa -m scores.txt -g scores.txt
check "the queries are what they were" same_files dna_q.fa kept_q.fa
works align parasail --help
check "help by its long name" out_has '^Usage: biogpu align parasail'

finish
