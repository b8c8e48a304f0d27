#!/usr/bin/env bash
# Columns and formats of `biogpu align` besides TSV's default columns and SAM.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example

works align --mode sw -q --columns query_index,target_index,query_length,target_length,identity q.fa t.fa
check "indices, lengths, identity" out_is 'query_index\ttarget_index\tquery_length\ttarget_length\tidentity\n0\t0\t11\t12\t91.67\n0\t1\t11\t17\t100.00\n1\t0\t12\t12\t75.00\n1\t1\t12\t17\t66.67\n'
works align --mode sw -q --columns matches,mismatches,similar,length,gaps,gap_opens,strand q.fa t.fa
check "counts" out_is 'matches\tmismatches\tsimilar\tlength\tgaps\tgap_opens\tstrand\n11\t0\t11\t12\t1\t1\t+\n6\t0\t6\t6\t0\t0\t+\n9\t3\t9\t12\t0\t0\t+\n8\t4\t8\t12\t0\t0\t+\n'
works align --mode sw -q --strand forward --output statistics q.fa t.fa
check "statistics" out_is 'query\ttarget\tscore\tquery_end\ttarget_end\tmatches\tsimilar\tlength\nq1\tt1\t17\t11\t12\t11\t11\t12\nq1\tt2\t12\t6\t9\t6\t6\t6\nq2\tt1\t18\t12\t12\t9\t9\t12\nq2\tt2\t13\t12\t15\t8\t8\t12\n'
works align --mode sw -q --pairs --cigar merged --columns cigar q.fa t.fa
check "merged CIGAR" out_is 'cigar\n7M1D4M\n12M\n'
fails 2 "no column 'scor'; expected some of query" align --mode sw --columns query,scor q.fa t.fa
fails 2 "has an empty item" align --mode sw --columns query, q.fa t.fa
fails 2 "does not compute" align --mode sw --columns cigar --output score q.fa t.fa
fails 2 "leave out --format PAF\|leave out --format paf" align --mode sw --columns query --format paf q.fa t.fa

works align --mode sw -q --format paf q.fa t.fa
check "PAF" out_is 'q1\t11\t0\t11\t+\tt1\t12\t0\t12\t11\t12\t255\tAS:i:17\tNM:i:1\tcg:Z:7=1D4=\nq1\t11\t0\t6\t+\tt2\t17\t3\t9\t6\t6\t255\tAS:i:12\tNM:i:0\tcg:Z:6=\nq2\t12\t0\t12\t+\tt1\t12\t0\t12\t9\t12\t255\tAS:i:18\tNM:i:3\tcg:Z:3=2X3=1X3=\nq2\t12\t0\t12\t+\tt2\t17\t3\t15\t8\t12\t255\tAS:i:13\tNM:i:4\tcg:Z:3=2X1=1X1=1X3=\n'
cp out.txt all.paf
works align --mode sw -q q.fa t.fa -o out.paf
check "suffix .paf" same_files out.paf all.paf
works align --mode sw -q --preset dna-short --pairs --format blast6 q.fa t.fa
check "outfmt 6" out_is 'q1\tt1\t91.667\t12\t0\t1\t1\t11\t1\t12\t0.006\t14.8\nq2\tt2\t66.667\t12\t4\t0\t1\t12\t4\t15\t0.029\t13.0\n'
works align --mode sw -q --pairs --format csv q.fa t.fa
check "Parasail's CSV" out_is '0,0,11,12,17,10,11\n1,1,12,17,13,11,14\n'
works align --mode sw -q --pairs --format csv --output statistics q.fa t.fa
check "CSV with statistics" out_is '0,0,11,12,17,10,11,11,11,12\n1,1,12,17,13,11,14,8,8,12\n'
works align --mode sw -q --pairs --format emboss q.fa t.fa
check "EMBOSS" out_has '^t1                   1 ACGTTGCATGCA      12$'
check "EMBOSS marks" out_has '||||||| ||||'
check "EMBOSS identity" out_has '^Identity:        11/12 (91.7%)$'
works align --mode sw -q --pairs --format ssw q.fa t.fa
check "SSW" out_has '^optimal_alignment_score: 17	strand: +	target_begin: 1	target_end: 12	query_begin: 1	query_end: 11$'
# Proteins with a gap of two residues and pairs that are similar but not equal: no two counts are the same.
printf '>p\nMKVLAWQHHGDERSTNMK\n' >p.fa
printf '>t\nMRVLAWQGDDRSTNIK\n' >pt.fa
protein=(align --mode sw -q --preset protein --pairs)
works "${protein[@]}" --columns matches,mismatches,similar,length,gaps,gap_opens,identity,cigar p.fa pt.fa
check "counts of proteins" out_is 'matches\tmismatches\tsimilar\tlength\tgaps\tgap_opens\tidentity\tcigar\n13\t3\t16\t18\t2\t1\t72.22\t1=1X5=2I2=1X4=1X1=\n'
works "${protein[@]}" --output statistics p.fa pt.fa
check "statistics of proteins" out_is 'query\ttarget\tscore\tquery_end\ttarget_end\tmatches\tsimilar\tlength\np\tt\t62\t18\t16\t13\t16\t18\n'
works "${protein[@]}" --format paf p.fa pt.fa
check "PAF of proteins" out_is 'p\t18\t0\t18\t+\tt\t16\t0\t16\t13\t18\t255\tAS:i:62\tNM:i:5\tcg:Z:1=1X5=2I2=1X4=1X1=\n'
works "${protein[@]}" --format blast6 p.fa pt.fa
check "outfmt 6 of proteins" out_is 'p\tt\t72.222\t18\t3\t1\t1\t18\t1\t16\t7.64e-07\t28.5\n'
works "${protein[@]}" --format csv --output statistics p.fa pt.fa
check "CSV of proteins" out_is '0,0,18,16,62,17,15,13,16,18\n'
works "${protein[@]}" --format sam p.fa pt.fa
check "NM of proteins" out_has 'AS:i:62	NM:i:5$'
works "${protein[@]}" --format emboss p.fa pt.fa
check "EMBOSS similarity" out_has '^Similarity:      16/18 (88.9%)$'
check "EMBOSS gaps" out_has '^Gaps:             2/18 (11.1%)$'
fails 2 "CSV holds end positions" align --mode sw --format csv --output score q.fa t.fa
for format in paf emboss ssw blast6; do
  fails 2 "holds a CIGAR" align --mode sw --output score --format $format q.fa t.fa
done

# Nothing aligned: no line in PAF and outfmt 6.
printf '>a\nAAAA\n' >a.fa
printf '>c\nCCCC\n' >c.fa
for format in paf blast6; do
  works align --mode sw -q --format $format a.fa c.fa
  check "$format leaves out what is not aligned" n_lines_is out.txt 0
done

# The letters decide between = and X; two unknown ones are a match of the statistics all the same.
printf '>n\nACGTNACGT\n' >n.fa
printf '>u\nACGTUACGT\n' >u.fa
works align --mode nw -q --columns cigar,matches n.fa u.fa
check "= and X by letters" out_is 'cigar\tmatches\n4=1X4=\t9\n'

# Matrices by name and from a file.
printf '>p\nMKVLAWQ\n' >p.fa
for matrix in blosum50 pam250 blosum100 blosumn pam10; do
  works align --mode sw --matrix $matrix --columns score p.fa p.fa
  check "$matrix is a protein matrix" err_has "protein, $matrix, gap open 11"
done
works align --mode sw --matrix nuc44 -q --columns score q.fa t.fa
check "nuc44" out_is 'score\n50\n41\n35\n26\n'
printf '# mine\n  A C G T *\nA 2 -3 -3 -3 0\nC -3 2 -3 -3 0\nG -3 -3 2 -3 0\nT -3 -3 -3 2 0\n* 0 0 0 0 0\n' >mine.txt
works align --mode sw -q --matrix mine.txt q.fa t.fa
cp out.txt mine.tsv
works align --mode sw -q q.fa t.fa
check "a matrix file scores as --match and --mismatch do" same_files out.txt mine.tsv
printf 'A C\nA 1 2\n' >bad.txt
fails 3 "bad.txt: line 2: 1 rows for 2 letters" align --mode sw --matrix bad.txt q.fa t.fa
fails 2 "neither a matrix known by name nor a file" align --mode sw --matrix blosum99 q.fa t.fa

# RNA.
printf '>r\nACGUUGCAUGCA\n' >rna.fa
printf '>d\nACGTTGCATGCA\n' >dna.fa
works align --mode nw -q --columns score,cigar rna.fa dna.fa
check "U is an unknown letter of DNA" out_is 'score\tcigar\n18\t3=2X3=1X3=\n'
works align --mode nw -q --rna --columns score,matches,cigar rna.fa dna.fa
check "--rna: U is T" out_is 'score\tmatches\tcigar\n24\t12\t12=\n'
works align --mode nw -q --rna --strand reverse --columns score rna.fa dna.fa
cp out.txt reverse.tsv
works align --mode nw -q --strand reverse --columns score dna.fa dna.fa
check "--rna: the reverse complement too" same_files out.txt reverse.tsv
works align --mode sw -q --rna --matrix nuc44 --columns score rna.fa dna.fa
check "--rna with a matrix" out_is 'score\n60\n'
fails 2 "speaks of nucleotides" align --mode nw --rna --matrix blosum62 rna.fa dna.fa

# Linear gaps, a band, X-drop.
works align --mode nw -q --pairs --gap-open 2 --gap-extend 2 --columns score,cigar q.fa t.fa
check "linear gaps" out_is 'score\tcigar\n20\t7=1D4=\n3\t3D3=2X1=1X1=1X3=2D\n'
works align --mode nw -q --pairs --band 100 q.fa t.fa
cp out.txt band.tsv
works align --mode nw -q --pairs q.fa t.fa
check "a wide band changes nothing" same_files out.txt band.tsv
works align --mode nw -q --pairs --band 0 --columns score q.fa t.fa
check "a narrow band" n_lines_is out.txt 3
works align --mode sw -q --pairs --xdrop 100 --columns score,query_begin,target_begin q.fa t.fa
check "X-drop begins at both begins" out_has '^17	0	0$'
fails 2 "use --mode sw" align --mode nw --xdrop 5 q.fa t.fa
fails 2 "--band" align --mode nw --band -1 q.fa t.fa

finish
