#!/usr/bin/env bash
# Which pairs `biogpu align` aligns and which rows it writes: --self, --strand, --top, --min-score,
# --evalue.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example
rows() { tail -n +2 out.txt; }
# shellcheck disable=SC2317  # called through check
rows_are() { rows | tr '\t\n' ' ;' | grep -qx -- "$1"; }

# One set with itself.
cat q.fa t.fa >set.fa
works align --mode sw -q --self --columns query,target,score set.fa
check "every two sequences once" rows_are 'q1 q2 11;q1 t1 17;q1 t2 12;q2 t1 18;q2 t2 13;t1 t2 19;'
works align --mode sw --self -q --format sam set.fa
check "@SQ of the set" out_has '^@SQ	SN:q2	LN:12'
works align --mode sw -q --self --top 1 --columns query,target,score set.fa
check "the best other sequence" rows_are 'q1 t1 17;q2 t1 18;t1 t2 19;t2 t1 19;'
: >empty.fa
works align --mode sw --self empty.fa
check "an empty set" err_has 'warning: no pairs'
fails 2 "leave out TARGET" align --mode sw --self q.fa t.fa
fails 2 "TARGET is required" align --mode sw q.fa
fails 2 "exclude each other" align --mode sw --self --pairs q.fa

# Strands: the reverse complement of a target piece is found on the other strand.
printf '>f\nACGTTGCAAG\n>r\nCTTGCAACGT\n' >strands.fa
printf '>t\nGGACGTTGCAAGCC\n' >t1.fa
works align --mode sw -q --strand both strands.fa t1.fa
check "both strands" rows_are 'f t 20 0 10 2 12 10= +;r t 20 0 10 2 12 10= -;'
works align --mode sw -q --strand reverse --columns query,score,strand strands.fa t1.fa
check "the reverse strand alone" out_has '^r	20	-$'
check "forward queries turned round" out_has '^f	[0-9]*	-$'
printf '@r x\nGCTTGCAACGT\n+\nABCDEFGHIJK\n' >r.fq
works align --mode sw -q --strand both --format sam r.fq t1.fa
check "reverse strand in SAM" out_has '^r	16	t	3	255	11=	\*	0	0	ACGTTGCAAGC	KJIHGFEDCBA	AS:i:22	NM:i:0$'
works align --mode sw -q --strand both --format paf r.fq t1.fa
check "reverse strand in PAF" out_has '^r	11	0	11	-	t	14	2	13	11	11	255'
works align --mode sw -q --strand both --format blast6 r.fq t1.fa
check "reverse strand in outfmt 6" out_has '^r	t	100.000	11	0	0	1	11	13	3	'
works align --mode sw -q --strand both -o r.bam r.fq t1.fa
if command -v samtools >/dev/null; then
  check "reverse strand in BAM" [ "$(samtools view r.bam | cut -f2,10,11)" = "16	ACGTTGCAAGC	KJIHGFEDCBA" ]
fi
fails 2 "are for DNA" align --mode sw --strand both --matrix blosum62 q.fa t.fa

# DNA is searched on both strands where every query meets every target, and every format tells the strand.
printf '@plus\nTTCAGGCATCGAC\n+\nABCDEFGHIJKLM\n@minus\nAAGTCGATGCCTG\n+\nABCDEFGHIJKLM\n' >ps.fq
printf '>t\nAGTTCAGGCATCGACTTGA\n' >pt.fa
both_ways() { # both_ways OPTIONS...: without --strand as with --strand both
  works align --mode sw -q "$@" ps.fq pt.fa
  grep -v '^@PG' out.txt >default.out
  works align --mode sw -q --strand both "$@" ps.fq pt.fa
  check "both strands by default: $*" same_files default.out <(grep -v '^@PG' out.txt)
}
for options in "" "--top 1" "--output score" "--output ends" "--output statistics" "--columns query,score,cigar" "--format sam" \
  "--format paf" "--format blast6" "--format csv" "--format csv --output statistics" "--format emboss" "--format ssw"; do
  # shellcheck disable=SC2086
  both_ways $options
done
works align --mode sw -q ps.fq pt.fa
check "TSV" rows_are 'plus t 26 0 13 2 15 13= +;minus t 26 0 13 4 17 13= -;'
works align --mode sw -q --output ends ps.fq pt.fa
check "TSV, ends in the query as given" rows_are 'plus t 26 13 15 +;minus t 26 13 17 -;'
printf '>m\nTTTTTAAGTCGATGCCTGGGG\n' >flank.fa
works align --mode sw -q --output ends flank.fa pt.fa
check "the end of a part of the query" rows_are 'm t 26 18 17 -;'
works align --mode sw -q --format csv flank.fa pt.fa
check "CSV tells the strand, and the end as given" out_is '0,0,21,19,26,17,16,-\n'
works align --mode sw -q --format sam ps.fq pt.fa
check "SAM" out_has '^minus	16	t	5	255	13=	\*	0	0	CAGGCATCGACTT	MLKJIHGFEDCBA	AS:i:26	NM:i:0$'
works align --mode sw -q --format emboss flank.fa pt.fa
check "EMBOSS counts down" out_has '^m  *18 CAGGCATCGACTT  *6$'
check "the target counts up" out_has '^t  *5 CAGGCATCGACTT  *17$'
works align --mode sw -q --format ssw flank.fa pt.fa
check "SSW" out_has 'strand: -'
works align --mode sw ps.fq pt.fa --json x.json -o x.tsv
check "JSON" grep -q '"strand": "both"' x.json
works align --mode sw -q --strand forward ps.fq pt.fa
check "--strand forward" out_has '^minus	t	[0-9]	.*[^+-]$'
check "without a column" bash -c '! grep -q strand out.txt'
printf '>t\nAGTTCAGGCATCGACTTGA\n>u\nAGTTCAGGCATCGACTTGA\n' >pt2.fa
works align --mode sw -q --pairs ps.fq pt2.fa
check "--pairs stays forward" bash -c '! grep -q strand out.txt'
works align --mode sw -q --self --columns query,target,strand pt2.fa
check "--self: both" out_has '^t	u	+$'
works align --mode sw -q --preset protein --columns query,strand "$source_dir/data/protein_queries.fa" "$source_dir/data/proteins.fa"
check "proteins stay forward" bash -c '! grep -q -- "-$" out.txt'

# Files that look swapped.
write_random 21 60 150 ACGT read >short_reads.fa
write_random 22 1 40000 ACGT chromosome >chromosome.fa
awk '/^>/ {print; next} {while (length($0) < 20000) $0 = $0 $0; print}' chromosome.fa >long.fa
works align --mode sw -o x.tsv long.fa short_reads.fa
check "swapped files" err_has 'warning: QUERY and TARGET look swapped: .*long.fa have [0-9]* bases.*60 of short_reads.fa'
works align --mode sw -o x.tsv short_reads.fa long.fa
check "the right way round" bash -c '! grep -q swapped err.txt'

# Scores of the wrong sign.
fails 2 "--mismatch 4 would reward mismatches.*--mismatch -4" align --mode sw --mismatch 4 q.fa t.fa
fails 2 "--match -1 would penalize" align --mode nw --match -1 --mismatch -2 q.fa t.fa
fails 2 "gap-open: '-7'.*without the minus sign" align --mode nw --gap-open -7 q.fa t.fa
fails 2 "gap-extend: '-1'.*without the minus sign" align --mode nw --gap-extend -1 q.fa t.fa
works align --mode nw -q --match 0 --mismatch -1 --gap-open 1 --gap-extend 1 --columns score q.fa t.fa

# Search: the rows of an exhaustive run, sorted, are the oracle.
proteins=$source_dir/data/proteins.fa
queries=$source_dir/data/protein_queries.fa
works align --mode sw -q --columns query,query_index,target_index,score,cigar "$queries" "$proteins"
cp out.txt all.tsv
# best K LEAST: the oracle's rows of the best K targets with at least that score.
best() {
  tail -n +2 all.tsv | sort -t'	' -k2,2n -k4,4nr -k3,3n |
    awk -F'\t' -v k="$1" -v least="$2" '$4 >= least && ++n[$2] <= k' | cut -f1-5
}
for top in 1 3 1000; do
  works align --mode sw -q --top $top --columns query,query_index,target_index,score,cigar "$queries" "$proteins"
  rows >got.txt
  best $top 1 >expected.txt
  check "--top $top" same_files expected.txt got.txt
done
works align --mode sw -q --top 5 --min-score 60 --columns query,query_index,target_index,score,cigar "$queries" "$proteins"
rows >got.txt
best 5 60 >expected.txt
check "--top with --min-score" same_files expected.txt got.txt
works align --mode sw -q --min-score 60 --columns query,query_index,target_index,score,cigar "$queries" "$proteins"
rows >got.txt
tail -n +2 all.tsv | awk -F'\t' '$4 >= 60' >expected.txt
check "--min-score alone keeps the order of the input" same_files expected.txt got.txt
for variant in "-t 3" "--batch 1" "--batch 2 -t 2"; do
  # shellcheck disable=SC2086
  works align --mode sw -q --top 3 --columns query,query_index,target_index,score,cigar $variant "$queries" "$proteins"
  rows >got.txt
  best 3 1 >expected.txt
  check "--top 3 $variant" same_files expected.txt got.txt
done
fails 2 "leave out --pairs" align --mode sw --top 3 --pairs q.fa t.fa
fails 2 "--top" align --mode sw --top 0 q.fa t.fa

# BLAST 2.12 with OLD_FSC=1 and -comp_based_stats 0 prints these bits and E-values.
works align --mode sw -q --preset protein --evalue 1e-4 --columns query,target,score,bits,evalue "$queries" "$proteins"
check "bits and E-value" out_has 'P21645|lpxD	1450	563	1.47e-163$'
check "E-value of a weak hit" out_has 'P00561|thrA	82	36.2	4.33e-05$'
check "rows above the bound are gone" bash -c '! grep -q "hsdR" out.txt'
cp out.txt evalue.tsv
works align --mode sw -q --preset protein --top 100 --evalue 1e-4 --columns query,target,score,bits,evalue "$queries" "$proteins"
check "the same rows by search" cmp <(sort evalue.tsv) <(sort out.txt)
works align --mode sw -q --gap-open 3 --columns bits,evalue q.fa t.fa
check "no published parameters: *" rows_are '\* \*;\* \*;\* \*;\* \*;'
printf '>e\n\n' >none.fa
printf '>t\nACGT\n' >some.fa
works align --mode sw -q --preset dna-short --evalue 1e-10 --columns query,score none.fa some.fa
check "nothing aligned is no hit" n_lines_is out.txt 1
printf '>q\nCCCC\n' >nothing_q.fa
printf '>t\nAAAA\n' >nothing_t.fa
works align --mode sw -q --preset dna-short --columns score,bits,evalue nothing_q.fa nothing_t.fa
check "nothing aligned, nothing expected" out_has '^0	\*	\*$'
fails 2 "expected a number above 0" align --mode sw --preset protein --evalue nan "$queries" "$proteins"
fails 2 "must not be below --gap-extend" align --mode nw --match 2 --mismatch -3 --gap-open 1 --gap-extend 3 some.fa some.fa
fails 2 "no parameters are published for protein, blosum62, gap open 3" align --mode sw --matrix blosum62 --gap-open 3 --evalue 1 "$queries" "$proteins"
fails 2 "known for local alignments" align --mode nw --evalue 1 q.fa t.fa
fails 2 "--evalue" align --mode sw --evalue 0 q.fa t.fa

works align --mode sw -v --top 2 "$queries" "$proteins"
check "verbose names the stages" err_has 'compute/select  *1 '

# The same bytes for any number of threads and batch size, and on the emulated GPU.
write_random 21 40 120 ACGTN q >many_q.fa
write_random 22 30 150 ACGT t >many_t.fa
ways="-t^3^--batch^7 -t^2^--batch^1"
[ "$backend" = emulated ] && ways="$ways --device^gpu^--batch^50"
for options in "--strand both" "--min-score 30" "--top 3" "--top 2 --strand both --min-score 25" \
  "--strand reverse --output statistics" "--format paf" "--format emboss" "--format csv --strand both" \
  "--preset dna-short --evalue 100 --format blast6" "--band 20 --output ends" "--xdrop 15"; do
  # shellcheck disable=SC2086
  works align --mode sw -q -t 1 --device cpu $options many_q.fa many_t.fa
  cp out.txt expected.txt
  for way in $ways; do
    # shellcheck disable=SC2086
    works align --mode sw -q ${way//^/ } $options many_q.fa many_t.fa
    check "$options ${way//^/ }" same_files expected.txt out.txt
  done
done
works align --mode sg -q -t 1 --self many_q.fa
cp out.txt expected.txt
works align --mode sg -q -t 3 --batch 11 --self many_q.fa
check "--self -t 3 --batch 11" same_files expected.txt out.txt

# As BLAST printed them (blastp and blastn 2.12, OLD_FSC=1): 1/2 bit BLOSUM80, bits of odd scores.
printf '>q\nGHWKRNDCEYPLVMTSIFQAGHWYRNDAEY\n' >bq.fa
printf '>t\nMMGHWKRNDCEYPIVMTSIFKAGHWYRNDAEYLL\n' >bt.fa
works align --mode sw -q --matrix blosum80 --gap-model blast --gap-open 11 --gap-extend 1 \
  --columns score,bits,evalue bq.fa bt.fa
check "blosum80 is BLAST's" rows_are '184 86.7 6.44e-24;'
works align --mode sw -q --matrix BLOSUM62 --gap-model blast --gap-open 10 --gap-extend 2 \
  --columns score,bits,evalue bq.fa bt.fa
check "a name in capitals has its parameters" rows_are '175 77.2 4.80e-21;'
works align --mode sw -q --matrix EBLOSUM62 --gap-model blast --gap-open 10 --gap-extend 2 \
  --columns score,bits,evalue bq.fa bt.fa
check "EMBOSS' name" rows_are '175 77.2 4.80e-21;'
printf '>w\nWWA\n' >w.fa
for pair in blosum80:27 blosum80_3:39 EBLOSUM80:39; do
  works align --mode sw -q --matrix "${pair%:*}" --columns score,bits w.fa w.fa
  check "${pair%:*}" out_has "^${pair#*:}	"
done
check "no parameters for 1/3 bits" out_has '	\*$'
works align parasail -x -f w.fa -q w.fa -m blosum80 -a sw_striped_16 -g out.csv
check "Parasail's blosum80" grep -qx '0,0,3,3,39,2,2' out.csv
fails 2 "no parameters are published" align --mode sw --matrix blosum80_3 --evalue 1 bq.fa bt.fa
printf '>q\nGGATCACAGTCTACACTGCTCACTCCAACCCCGGCCCCTGAGTC\n' >dq.fa
printf '>t\nTTGCAGGATCACAGTCTACACTGCTCACTCCAACCACGGCCCCTGAGTCGGA\n' >dt.fa
works align --mode sw -q --preset dna-short --columns score,bits,evalue dq.fa dt.fa
check "2/-3" rows_are '83 76.1 3.96e-20;'
works align --mode sw -q --match 3 --mismatch -4 --gap-model blast --gap-open 6 --gap-extend 3 \
  --columns score,bits,evalue dq.fa dt.fa
check "3/-4" rows_are '125 72.2 5.16e-19;'
works align --mode sw -q --match 2 --mismatch -7 --gap-model blast --gap-open 2 --gap-extend 4 \
  --columns score,bits,evalue dq.fa dt.fa
check "2/-7" rows_are '79 78.1 1.13e-20;'

# DNA and proteins do not meet unless --alphabet says so.
fails 3 "bt.fa: its first sequences look like proteins, those of dq.fa like DNA" align --mode sw dq.fa bt.fa
fails 3 "bq.fa: its first sequences look like proteins, those of dt.fa like DNA" align --mode nw bq.fa dt.fa
fails 3 "bq.fa: .* like DNA" align --mode nw --matrix blosum62 --pairs bq.fa dt.fa
fails 3 "bq.fa: .* and the scores are those of DNA" align --mode nw --match 1 bq.fa bt.fa
fails 3 "bt.fa: .* and the scores are those of DNA" align --mode nw --preset dna-short w.fa bt.fa
works align --mode sw -q --alphabet protein dq.fa bt.fa
works align --mode sw -q --alphabet DNA dq.fa bt.fa
works align --mode sw -q --match 1 --alphabet dna bq.fa bt.fa
printf '>short\nACG\n' >short.fa
works align --mode sw -q --columns score short.fa bt.fa
check "few letters follow the targets" rows_are '9;'
works align --mode sw -q --matrix blosum62 dq.fa dt.fa

# Gaps that go on as free end gaps count as far as they are paid.
printf '>q\nCCCC\n' >cq.fa
printf '>t\nGGGGGGG\n' >gt.fa
works align --mode sg_qx_de -q --strand forward --match 2 --mismatch -9 --gap-open 5 --gap-extend 2 --alphabet dna \
  --columns score,gaps,gap_opens,cigar cq.fa gt.fa
check "a paid gap before a free end" rows_are '-5 1 1 4I7D;'
printf '>f\nTTACGTTGCA\n' >free.fa
works align --mode sg -q --match 2 --mismatch -3 --alphabet dna --columns score,gaps,gap_opens,cigar free.fa t1.fa
check "free ends alone are no gaps" out_has '	0	0	'

# Words in either case, fractions.
works align --mode SW -q --alphabet DNA --strand Both --gap-model BLAST --format TSV --cigar Merged q.fa t.fa
fails 2 "gap-open: '1.5'; expected a whole number .*; multiply all scores and gap costs by 2" \
  align --mode sw --gap-open 1.5 q.fa t.fa
fails 2 "match: '.375'; .* gap costs by 8" align --mode sw --match .375 q.fa t.fa
fails 2 "mismatch: '-2.0'; .* leave out the decimals" align --mode sw --mismatch -2.0 q.fa t.fa
fails 2 "gap-extend: 'x'; expected a whole number from 0 to 1000000;" align --mode sw --gap-extend x q.fa t.fa
printf 'A C\nA 1.2 -1\nC -1 1\n' >fraction.txt
fails 3 "fraction.txt: line 2: score '1.2'; .* gap costs by 5" align --mode sw --matrix fraction.txt q.fa t.fa

# Error lines stay short.
{ printf 'A C\nA 1 '; printf '%09000d' 7; printf 'x\nC 1 1\n'; } >token.txt
fails 3 "token.txt: line 2: score '0*...' (9001 bytes)" align --mode sw --matrix token.txt q.fa t.fa
check "a line of error" [ "$(wc -c <err.txt)" -lt 400 ]

# --max-memory holds for records without residues too.
awk 'BEGIN { for (i = 0; i < 400000; ++i) printf ">empty%d\n", i; print ">t"; print "ACGTACGT" }' >many.fa
fails 1 "many.fa: targets with their names take more than" align --mode sw --max-memory 16M q.fa many.fa
fails 1 "many.fa: the names of the targets" align --mode sw --pairs --max-memory 16M --format sam many.fa many.fa

finish
