#!/usr/bin/env bash
# What the SAM specification asks of the lines of a read, and what samtools and Picard make of them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export BIOGPU_DEVICE=cpu

# shellcheck disable=SC2317  # called through check
body() { grep -v '^@' out.txt; }
# Name, FLAG, target, MAPQ of every line.
# shellcheck disable=SC2317
lines_are() { [ "$(body | cut -f1-3,5 | tr '\t\n' ' ;')" = "$1" ]; }
# shellcheck disable=SC2317
seq_of() { body | awk -F'\t' -v name="$1" '$1 == name {print $10; exit}'; }
# shellcheck disable=SC2317
seq_is() { [ "$(seq_of "$1")" = "$2" ]; }
# shellcheck disable=SC2317
picard_accepts() {
  local tool=picard
  if command -v PicardCommandLine >/dev/null; then tool=PicardCommandLine; fi
  # QUALITY_NOT_STORED and the like: what FASTA does not have. Names of reads may come twice.
  "$tool" ValidateSamFile -I "$1" -MODE SUMMARY -IGNORE MISSING_READ_GROUP -IGNORE RECORD_MISSING_READ_GROUP \
    -IGNORE QUALITY_NOT_STORED >picard.txt 2>&1 && grep -q 'No errors found' picard.txt
}
has_picard() { command -v PicardCommandLine >/dev/null || command -v picard >/dev/null; }
# valid FILE N: samtools and Picard read it; it holds N reads.
valid() {
  if command -v samtools >/dev/null; then
    check "samtools quickcheck of $1" samtools quickcheck "$1"
    check "one primary line a read in $1" [ "$(samtools view -c -F 0x900 "$1")" -eq "$2" ]
  fi
  if has_picard; then check "Picard accepts $1" picard_accepts "$1"; fi
}

# One read with two places and two targets without one, one read with no place at all, one with a
# better second place.
printf '@two\nACGTACGTCC\n+\nIIIIIIIIII\n@none\nNNNNNN\n+\nABCDEF\n@late\nTTGGTTGG\n+\nIIIIHHHH\n' >q.fq
printf '>a\nGGACGTACGTCCTT\n>b\nNNNNN\n>c\nACGTACGTCCTTGATTGG\n>d\nCTTGGTTGGC\n' >t.fa
works align --mode sw -q q.fq t.fa --format sam
cp out.txt whole.sam
check "primary, other places, one line without a place" lines_are \
  "two 0 a 255;two 256 c 255;two 256 d 255;none 4 * 0;late 256 a 255;late 256 c 255;late 0 d 255;"
# The same for every cut of the pairs into units.
for batch in 1 2 3 5 7 1000; do
  works align --mode sw -q --batch $batch q.fq t.fa --format sam
  check "one unit is $batch pairs" same_files <(grep -v '^@PG' whole.sam) <(grep -v '^@PG' out.txt)
  works align --mode sw -q --batch $batch q.fq t.fa -o cut.bam
  if command -v samtools >/dev/null; then
    samtools view -h --no-PG cut.bam | grep -v '^@PG' >cut.txt
    check "in BAM, $batch pairs" same_files <(grep -v '^@PG' whole.sam) cut.txt
  fi
done
check "rows of the JSON are lines" bash -c "
  '$biogpu' align --mode sw -q --batch 2 q.fq t.fa -o x.sam --json x.json && grep -q '\"rows\": 7' x.json"

works align --mode sw -q --top 2 q.fq t.fa --format sam
check "--top" lines_are "two 0 a 255;two 256 c 255;none 4 * 0;late 0 d 255;late 256 c 255;"
works align --mode sw -q --min-score 17 q.fq t.fa --format sam
check "--min-score" lines_are "two 0 a 255;two 256 c 255;none 4 * 0;late 4 * 0;"
# Every read that came in has a line, also if an option removed its rows.
printf '>r1\nACGTACGTTA\n>r2\nNNNNNNNN\n>r3\nTTGGTTGG\n>r4\nNN\n' >four.fa
: >no_target.fa
for options in "--top 1" "--top 3 --min-score 18" "--min-score 1000" "--evalue 1e-30 --preset dna-short" "--strand reverse --top 1" \
  "--strand forward --min-score 17" "--batch 1 --min-score 17" "--batch 2 --min-score 19"; do
  # shellcheck disable=SC2086
  works align --mode sw -q $options four.fa t.fa --format sam
  check "four reads with $options" [ "$(body | awk -F'\t' 'int($2 / 256) % 2 == 0' | cut -f1 | tr '\n' ' ')" = "r1 r2 r3 r4 " ]
  check "unaligned ones have flag 4 and MAPQ 0" [ "$(body | awk -F'\t' '$3 == "*" && (int($2 / 4) % 2 == 0 || $5 != 0)')" = "" ]
  # shellcheck disable=SC2086
  works align --mode sw -q $options four.fa t.fa -o four.bam
  valid four.bam 4
done
printf '>t\nACGT\n>u\nACGTT\n>t\nGGTTAC\n' >twice.fa
for target in "-o twice.sam" "-o twice.bam" "--format sam"; do
  # shellcheck disable=SC2086
  fails 3 "twice.fa: records 1 and 3 are both named 't'" align --mode sw -q four.fa twice.fa $target
done
works align --mode sw -q four.fa no_target.fa --format sam
check "without any target" lines_are "r1 4 * 0;r2 4 * 0;r3 4 * 0;r4 4 * 0;"
works align --mode sw -q --top 2 four.fa no_target.fa --format sam
check "without any target, --top" lines_are "r1 4 * 0;r2 4 * 0;r3 4 * 0;r4 4 * 0;"
works align --mode sw -q --self --strand forward four.fa --format sam
check "the last of --self has a line" [ "$(body | cut -f1 | uniq | tr '\n' ' ')" = "r1 r2 r3 r4 " ]
works align --mode sw -q --pairs --min-score 1000 four.fa t.fa --format sam
check "--pairs" lines_are "r1 4 * 0;r2 4 * 0;r3 4 * 0;r4 4 * 0;"
works align --mode sw -q --top 1 q.fq t.fa --format sam
check "an unaligned read keeps residues and qualities" out_has '^none	4	\*	0	0	\*	\*	0	0	NNNNNN	ABCDEF'

printf '>f\nCCGATTGACA\n' >f.fa
printf '>r\nAATGTCAATCGGA\n>f\nGCCGATTGACC\n' >rt.fa
works align --mode sw -q --strand both f.fa rt.fa --format sam
check "either strand" lines_are "f 16 r 255;f 256 f 255;"

# Random reads: by every read one primary line, of its best score.
write_random 4 40 30 ACGT r >rq.fa
write_random 5 9 60 ACGT t >rt.fa
works align --mode sg -q --batch 11 rq.fa rt.fa --format sam
body >random.sam
# shellcheck disable=SC2016  # awk's own
check "a primary line of the best score for each of 40 reads" awk -F'\t' '
  { for (i = 12; i <= NF; ++i) if ($i ~ /^AS:i:/) score = substr($i, 6) + 0
    mapped = $3 != "*"
    ++lines[$1]
    if (int($2 / 256) % 2 == 0) { ++n[$1]; primary[$1] = score; unmapped[$1] = !mapped }
    if (mapped && (!($1 in best) || score > best[$1])) best[$1] = score
    if (!mapped && $5 != 0) bad = 1 }
  END { for (read in lines) { if (n[read] != 1) bad = 1
          if (read in best ? primary[read] != best[read] : lines[read] != 1 || !unmapped[read]) bad = 1
          ++reads }
        exit bad || reads != 40 }' random.sam

# Letters that SEQ cannot hold, and RNA.
printf '>dash\nACG-TACG*ACGT.acgt\n' >odd.fa
printf '>t\nACGTACGACGTacgtUU\n' >oddt.fa
works align --mode sw -q --alphabet dna odd.fa oddt.fa --format sam
check "bytes that are no letters" seq_is dash ACGNTACGNACGT.acgt
cp out.txt odd.sam
printf '>p\nMKV-WW*LE\n>star\n*\n' >prot.fa
works align --mode sw -q --alphabet protein prot.fa prot.fa --format sam
check "of proteins" seq_is p MKVXWWXLE
check "not to be taken for no residues" seq_is star X
printf '>u\nacguUGCAUUCAGG\n' >rna.fa
printf '>t\nGGACGTTGCATTCAGGTT\n' >dna.fa
works align --mode sw -q --rna rna.fa dna.fa --format sam
check "U is written as T" seq_is u acgtTGCATTCAGG
check "and equal to it" out_has '	14=	'
works align --mode sw -q --rna --strand reverse rna.fa dna.fa --format sam
check "U of the other strand is A" seq_is u CCTGAATGCAacgt
if command -v samtools >/dev/null; then
  for suffix in bam cram sam.gz; do
    works align --mode sw -q --rna rna.fa dna.fa -o "rna.$suffix"
    check "T in $suffix" [ "$(samtools view "rna.$suffix" | cut -f10 | tr '[:lower:]' '[:upper:]')" = ACGTTGCATTCAGG ]
  done
  works bwt index -q dna.fa
  for suffix in bam cram sam; do
    works bwt locate -q -x dna.fa rna.fa -o "located.$suffix"
    check "T of bwt locate in $suffix" \
      [ "$(samtools view "located.$suffix" | cut -f10 | tr '[:lower:]' '[:upper:]')" = ACGTTGCATTCAGG ]
    valid "located.$suffix" 1
  done
fi

# Targets without residues have no @SQ line; those behind them keep their names.
printf '>none\n\n>a\nCCGATTGACA\n>none2\n>b\nTTTTCCGATTGACAGG\n' >gaps.fa
for mode in sw nw sg; do
  works align --mode $mode -q f.fa gaps.fa --format sam
  check "$mode: no empty target in the header" bash -c "! grep -q 'SN:none' out.txt && ! grep -q 'LN:0' out.txt"
  cp out.txt "gaps_$mode.sam"
  works align --mode $mode -q f.fa gaps.fa -o "gaps_$mode.bam"
  if command -v samtools >/dev/null; then
    samtools view "gaps_$mode.bam" | cut -f1-9 >got.txt
    check "$mode: BAM names the same targets" same_files got.txt <(grep -v '^@' "gaps_$mode.sam" | cut -f1-9)
  fi
  valid "gaps_$mode.bam" 1
  valid "gaps_$mode.sam" 1
done
check "a target behind an empty one" [ "$(grep -v '^@' gaps_sw.sam | cut -f3 | tr '\n' ' ')" = "a b " ]

works align --mode sw -q q.fq t.fa -o whole.bam
valid whole.bam 3
valid whole.sam 3
works align --mode sw -q q.fq t.fa -o whole.cram
if command -v samtools >/dev/null; then check "CRAM" samtools quickcheck whole.cram; fi

finish
