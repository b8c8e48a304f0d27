#!/usr/bin/env bash
# SAM and BAM output of `biogpu align`.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example
printf '@q1\nACGTTGCTGCA\n+\nABCDEFGHIJK\n@r\nGGGGGGACGTTGAATGTT\n+\nIIIIIIIIIIIIIIIIII\n@u\nNNNN\n+\nIIII\n' >q.fq
printf '>t1 one\nACGTTGCATGCA\n>t2\nTTGACGTTGAATGCAGG\n>t3\nACGT\n' >t.fa

body() { grep -v '^@' out.txt; }
# shellcheck disable=SC2317  # called through check
field() { body | awk -F'\t' -v name="$1" -v column="$2" '$1 == name {print $column; exit}'; }
# shellcheck disable=SC2317
field_is() { [ "$(field "$1" "$2")" = "$3" ]; }

works align --mode sw --pairs -q q.fq t.fa --format sam
check "@SQ of every target" out_has '^@SQ	SN:t2	LN:17'
check "@PG holds the command" out_has '^@PG.*CL:biogpu align --mode sw'
check "flag" field_is q1 2 0
check "target" field_is q1 3 t1
check "position" field_is q1 4 1
check "CIGAR" field_is q1 6 7=1D4=
check "sequence" field_is q1 10 ACGTTGCTGCA
check "quality" field_is q1 11 ABCDEFGHIJK
check "score" out_has 'AS:i:17'
check "edit distance" out_has 'NM:i:1'
check "second pair's target" field_is r 3 t2
check "local: position in the target" field_is r 4 3
check "local: soft clips" field_is r 6 5S11=2S
check "local score 0 is unmapped" field_is u 2 4
check "unmapped: no CIGAR" field_is u 6 '*'

printf '>over\nGGGGTTGACGTT\n>in\nACGTTGAATG\n' >ends.fa
printf '>t2\nTTGACGTTGAATGCAGG\n' >t2.fa
works align --mode sg -q ends.fa t2.fa --format sam
check "semi-global: free query ends are clipped" field_is over 6 4S8=
check "semi-global: position at the target's begin" field_is over 4 1
check "semi-global: position after the free target end" field_is in 4 4
check "semi-global: no gap for free target ends" field_is in 6 10=
works align --mode nw --pairs -q q.fq t.fa --format sam
check "global: CIGAR from end to end" field_is q1 6 7=1D4=

works align --mode sw -q q.fq t.fa --format sam
check "all with all: a line for each place, one for the read without" [ "$(body | wc -l)" -eq 7 ]
works align --mode sw --pairs -q q.fq t.fa -o out.sam
check "suffix .sam" grep -q '^@SQ' out.sam
works align --mode sw --pairs -q q.fq t.fa -o out.bam
printf '>p\nMKWVTFISLL\n' >p.fa
fails 2 "BAM and CRAM hold nucleotides" align --mode sw --matrix blosum62 p.fa p.fa -o p.bam
check "refused proteins leave no file" [ ! -e p.bam ]
mkfifo pipe.fa
fails 2 "needs all targets first" align --mode sw --pairs q.fq pipe.fa --format sam
check "suffix .bam is BGZF" bash -c 'gzip -dc out.bam | head -c 3 | grep -q BAM'
if command -v samtools >/dev/null; then
  check "samtools accepts the BAM" samtools quickcheck out.bam
  samtools view -h --no-PG out.bam | grep -v '^@PG' >bam.txt
  grep -v '^@PG' out.sam >sam.txt
  check "BAM and SAM hold the same" same_files bam.txt sam.txt
  check "samtools counts the records" [ "$(samtools view -c out.bam)" -eq 3 ]
fi

printf '>t\nACGT\n>t\nACGT\n' >twice.fa
fails 3 "t" align --mode sw q.fq twice.fa -o twice.sam
check "no file for duplicate targets" absent twice.sam

finish
