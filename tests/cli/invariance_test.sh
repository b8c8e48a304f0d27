#!/usr/bin/env bash
# The same bytes for any number of threads, batch size and pairing.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 11 300 150 ACGTN q >dna_q.fa
write_random 12 300 200 ACGTN t >dna_t.fa
write_random 13 60 120 ARNDCQEGHILKMFPSTWYV q >protein_q.fa
write_random 14 60 150 ARNDCQEGHILKMFPSTWYVX t >protein_t.fa

for kind in dna protein; do
  for mode in nw sg sw sg_qx sg_db; do
    for format in tsv sam; do
      works align --mode $mode --pairs -q -t 1 ${kind}_q.fa ${kind}_t.fa --format $format
      grep -v '^@PG' out.txt >expected.txt
      check "one line per pair" [ "$(grep -vc '^@\|^query	' expected.txt)" -eq "$(grep -c '>' ${kind}_q.fa)" ]
      for options in "-t 2" "-t 3 --batch 1" "-t 2 --batch 7" "-t 1 --batch 1k" "-t 2 --max-memory 4M"; do
        # shellcheck disable=SC2086
        works align --mode $mode --pairs -q $options ${kind}_q.fa ${kind}_t.fa --format $format
        grep -v '^@PG' out.txt >got.txt
        check "$kind $mode $format $options" same_files got.txt expected.txt
      done
    done
  done
done

# All with all holds the rows of the pairs; order is query-major for any batch.
works align --mode sw -q -t 1 protein_q.fa protein_t.fa
cp out.txt all.tsv
check "3600 rows and a header" n_lines_is all.tsv 3601
for options in "-t 2 --batch 1" "-t 2 --batch 61" "-t 3 --batch 59"; do
  # shellcheck disable=SC2086
  works align --mode sw -q $options protein_q.fa protein_t.fa
  check "all with all $options" same_files out.txt all.tsv
done
works align --mode sw --pairs -q protein_q.fa protein_t.fa
awk -F'\t' 'NR == 1 || substr($1, 2) == substr($2, 2)' all.tsv >diagonal.tsv
check "pairs are the diagonal of all with all" same_files out.txt diagonal.tsv
for output in score ends; do
  works align --mode sw --output $output -q protein_q.fa protein_t.fa
  check "--output $output has the same scores" bash -c 'cmp <(cut -f1-3 out.txt) <(cut -f1-3 all.tsv)'
done

# Real sequences, gzip and plain.
works align --mode sg_dx --pairs -q "$source_dir/data/lambda_reads.fq.gz" "$source_dir/data/lambda_windows.fa"
cp out.txt reads.tsv
gzip -dc "$source_dir/data/lambda_reads.fq.gz" >reads.fq
works align --mode sg_dx --pairs -q -t 2 --batch 13 reads.fq "$source_dir/data/lambda_windows.fa"
check "real reads, plain and gzip" same_files out.txt reads.tsv

finish
