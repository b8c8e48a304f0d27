#!/usr/bin/env bash
# What `biogpu align` writes for good input: TSV, pairing, input formats, summary. align_select_test.sh has the strands.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example
header='query\ttarget\tscore\tquery_begin\tquery_end\ttarget_begin\ttarget_end\tcigar\n'

works align --strand forward --mode sw -q q.fa t.fa
check "quiet is silent" err_is_empty
check "local, all with all" out_is "$header"'q1\tt1\t17\t0\t11\t0\t12\t7=1D4=\nq1\tt2\t12\t0\t6\t3\t9\t6=\nq2\tt1\t18\t0\t12\t0\t12\t3=2X3=1X3=\nq2\tt2\t13\t0\t12\t3\t15\t3=2X1=1X1=1X3=\n'
cp out.txt all.tsv
works align --strand forward --mode local -q q.fa t.fa
check "local is sw" same_files out.txt all.tsv

works align --mode nw --pairs -q q.fa t.fa
check "global, by order" out_is "$header"'q1\tt1\t17\t0\t11\t0\t12\t7=1D4=\nq2\tt2\t-3\t0\t12\t0\t17\t3D3=2X1=1X1=1X3=2D\n'
works align --mode sg --pairs -q q.fa t.fa
check "semi-global, by order" out_is "$header"'q1\tt1\t17\t0\t11\t0\t12\t7=1D4=\nq2\tt2\t13\t0\t12\t3\t15\t3D3=2X1=1X1=1X3=2D\n'

works align --strand forward --mode sw --output score -q q.fa t.fa
check "scores alone" out_is 'query\ttarget\tscore\nq1\tt1\t17\nq1\tt2\t12\nq2\tt1\t18\nq2\tt2\t13\n'
works align --strand forward --mode sw --output ends -q q.fa t.fa
check "scores and ends" out_is 'query\ttarget\tscore\tquery_end\ttarget_end\nq1\tt1\t17\t11\t12\nq1\tt2\t12\t6\t9\nq2\tt1\t18\t12\t12\nq2\tt2\t13\t12\t15\n'

# A gap of one costs open in Parasail's model, open + extend in the other.
works align --strand forward --mode nw --gap-open 3 --gap-extend 2 --gap-model blast -q q.fa t.fa
cp out.txt blast.tsv
works align --strand forward --mode nw --gap-open 5 --gap-extend 2 -q q.fa t.fa
check "gap models convert" same_files out.txt blast.tsv
works align --strand forward --mode nw -q q.fa t.fa
check "default gaps are 5 and 2" same_files out.txt blast.tsv
works align --strand forward --mode nw --match 2 --mismatch -3 --alphabet dna -q q.fa t.fa
check "default match and mismatch are 2 and -3" same_files out.txt blast.tsv

# Nothing in common. A semi-global alignment still ends in a cell, as Parasail's does.
printf '>a\nAAAA\n' >a.fa
printf '>c\nCCCC\n' >c.fa
works align --strand forward --mode sw -q a.fa c.fa
check "local score 0" out_is "$header"'a\tc\t0\t0\t0\t0\t0\t*\n'
works align --strand forward --mode sg -q a.fa c.fa
check "semi-global without a match" out_is "$header"'a\tc\t-3\t3\t4\t0\t1\t3I1X3D\n'

# Protein, by the letters and by option.
printf '>p\nMKVLAWQ\n' >p.fa
works align --strand forward --mode sw p.fa p.fa
check "protein is recognised" err_has 'protein, blosum62 (by the first sequences), gap open 11, extend 1'
check "BLOSUM62 of MKVLAWQ with itself" out_has '^p	p	38	'
works align --strand forward --mode sw --matrix blosum62 q.fa t.fa
check "the matrix decides" err_has 'protein, blosum62, gap open 11'

# The same sequences in other clothes.
gzip -c q.fa >q.fa.gz
printf '>q1 first\r\nACGTTG\r\nCTGCA\r\n\r\n>q2\r\nacguugcaNgca' >crlf.fa
printf '@q1\nACGTTGCTGCA\n+\nIIIIIIIIIII\n@q2\nacguugcaNgca\n+q2\n@@@@@@@@@@@@\n' >q.fq
printf '>q1\naCGTTGCTGCa\n>q2\nACGUUGCANGCA\n' >case.fa
for query in q.fa.gz crlf.fa q.fq case.fa; do
  works align --strand forward --mode sw -q "$query" t.fa
  check "$query gives the same" same_files out.txt all.tsv
done
last_command="cat q.fa.gz | biogpu align - t.fa"
"$biogpu" align --strand forward --mode sw -q - t.fa <q.fa.gz >out.txt 2>err.txt
rc=$?
check "query from stdin: exit code 0" rc_is 0
check "query from stdin gives the same" same_files out.txt all.tsv
"$biogpu" align --strand forward --mode sw -q q.fa - <t.fa >out.txt 2>err.txt
check "target from stdin gives the same" same_files out.txt all.tsv

# Files.
works align --strand forward --mode sw q.fa t.fa -o out.tsv
check "-o gives the same" same_files out.tsv all.tsv
check "nothing on stdout with -o" n_lines_is out.txt 0
works align --strand forward --mode sw q.fa t.fa -o out.tsv.gz
check ".gz gives the same" bash -c 'gzip -dc out.tsv.gz | cmp - all.tsv'

# Summary and JSON.
check "summary" err_has '2 queries, 2 targets, 4 pairs, 667 cells'
works align --strand forward --mode sw -v q.fa t.fa -o out.tsv --json -
check "verbose gives stage times" err_has '\] compute  *[0-9]*  *[0-9.]'
check "JSON is well formed" python3 -m json.tool out.txt json.txt
for part in '"schema_version": 1' '"pairs": 4' '"cells": 667' '"records": 2' '"wall_s": ' '"used": "cpu"'; do
  check "JSON holds" out_has "$part"
done
works align --strand forward --mode sw --progress always q.fa t.fa

# Empty input is no failure: shards of a pipeline may be empty.
: >empty.fa
works align --strand forward --mode sw empty.fa t.fa
check "empty query: the header alone" out_is "$header"
check "empty query: a warning" err_has 'warning: no pairs: empty.fa has 0 records'
works align --strand forward --mode sw q.fa empty.fa
check "empty target: the header alone" out_is "$header"
works align --mode sw --pairs empty.fa empty.fa
check "empty both: the header alone" out_is "$header"
printf '>none\n\n>q2\nACGT\n' >none.fa
works align --strand forward --mode nw -q none.fa t.fa
check "empty sequence: all gap" out_has '^none	t1	-27	0	0	0	12	12D$'

finish
