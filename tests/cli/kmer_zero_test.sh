#!/usr/bin/env bash
# k-mers with a count of 0, which `count --if` writes: no command loses them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

printf '>p\nGATTACAGGC\n' >panel.fa
printf '>a\nGATTACATTT\n' >a.fa
printf '>b\nTTACAGG\nTTACAGG\n' >b.fa
# shellcheck disable=SC2317  # called by check
sorted() { "$biogpu" kmer dump -c "$1" | LC_ALL=C sort; }
# shellcheck disable=SC2317
holds() { diff <(sorted "$1") <(printf '%s\n' "${@:2}"); }

works kmer count -q -m 6 --if panel.fa -o a0.jf a.fa
check "--if" holds a0.jf 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 0' 'TTACAG 0'
works kmer count -q -m 6 --if panel.fa -o b0.jf b.fa
works kmer count -q -m 6 -o a.jf a.fa

# Conversions and merges.
for format in jf bgk kff; do
  works kmer merge -o one.$format a0.jf
  check "merge of one file to .$format" holds one.$format 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 0' 'TTACAG 0'
  works kmer set filter one.$format -o two.$format
  check "filter of .$format" holds two.$format 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 0' 'TTACAG 0'
  works kmer merge -o sum.$format one.$format b0.jf
  check "sum to .$format" holds sum.$format 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 2' 'TTACAG 2'
done
works kmer merge -M -o max.jf a0.jf b0.jf
check "maximum" holds max.jf 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 2' 'TTACAG 2'
works kmer merge -L 1 -o one.jf a0.jf b0.jf
check "-L 1 leaves them out" holds one.jf 'ATTACA 1' 'GATTAC 1' 'TACAGG 2' 'TTACAG 2'
works kmer merge -U 0 -o none.jf a0.jf b0.jf
check "-U 0 leaves them alone" holds none.jf 'ACAGGC 0'
works kmer merge -m -o min.jf a0.jf b0.jf
check "a minimum of 0 is not written" [ -z "$(sorted min.jf)" ]
works kmer merge -m -L 0 -o min.jf a0.jf a.jf
check "-m -L 0 writes it, also of what is absent from one" holds min.jf 'ACAGGC 0' 'ACATTT 0' 'ATTACA 1' \
  'GATTAC 1' 'TACAGG 0' 'TACATT 0' 'TTACAG 0' 'TTACAT 0'

# Sets: a database has a k-mer of count 0.
works kmer set union a0.jf b0.jf -o set.bgk
check "union" holds set.bgk 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 2' 'TTACAG 2'
works kmer set intersect a0.jf b0.jf -o set.bgk
check "intersect" holds set.bgk 'ACAGGC 0' 'ATTACA 0' 'GATTAC 0' 'TACAGG 0' 'TTACAG 0'
works kmer set subtract a0.jf a.jf -o set.bgk
check "subtract" holds set.bgk 'ACAGGC 0' 'TACAGG 0' 'TTACAG 0'
works kmer set symdiff a.jf a0.jf -o set.jf
check "symdiff" holds set.jf 'ACAGGC 0' 'ACATTT 1' 'TACAGG 0' 'TACATT 1' 'TTACAG 0' 'TTACAT 1'
works kmer set counters_subtract b0.jf a.jf -o set.jf
check "what others use up goes, what none has stays" holds set.jf 'ACAGGC 0' 'TACAGG 2' 'TTACAG 2'
works kmer set union a.jf a0.jf --count right -o set.jf
check "the count of a database without the k-mer keeps nothing" holds set.jf 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 0' 'TTACAG 0'

# A limit of quality is one of the reads: bases of the file of --if stay.
printf '@p\nGGATTACC\n+\n((((((((\n' >panel.fq
printf '@r\nGGATTACC\n+\nIIIIIII(\n' >r.fq
works kmer count -q -m 6 -Q 5 --if panel.fq -o quality.jf r.fq
check "bases of low quality in the file of --if" holds quality.jf 'ATTACC 0' 'GATTAC 1' 'GGATTA 1'

# --if with --bc: what the counter leaves out stays with 0.
cat a.fa a.fa b.fa >twice.fa
works kmer bc -m 6 -s 1k -o twice.bc twice.fa
works kmer bc -m 6 -s 1k -o once.bc a.fa
works kmer count -q -m 6 --if panel.fa --bc twice.bc -o got.jf a.fa
check "--if --bc of what occurs twice" holds got.jf 'ACAGGC 0' 'ATTACA 1' 'GATTAC 1' 'TACAGG 0' 'TTACAG 0'
works kmer count -q -m 6 --if panel.fa --bc once.bc -o got.jf a.fa
check "--if --bc of what occurs once" holds got.jf 'ACAGGC 0' 'ATTACA 0' 'GATTAC 0' 'TACAGG 0' 'TTACAG 0'
works kmer count -q -m 6 --if panel.fa --bc once.bc -U 0 -L 0 -o got.jf a.fa
check "bounds hold what the counter left" holds got.jf 'ACAGGC 0' 'ATTACA 0' 'GATTAC 0' 'TACAGG 0' 'TTACAG 0'

# Text stays text.
works kmer count -q -m 6 --text -o a.txt a.fa
works kmer count -q -m 6 --text --if panel.fa -o b.txt b.fa
# shellcheck disable=SC2317
is_text() { head -c 300 "$1" | grep -q '"format":"text/sorted"'; }
works kmer merge -o ab.txt a.txt b.txt
check "text merges to text" is_text ab.txt
works kmer set union -o ab2.txt a.txt b.txt
check "text joins to text" is_text ab2.txt
check "with the counts of both" holds ab.txt 'ACAGGC 0' 'ACATTT 1' 'ATTACA 1' 'GATTAC 1' 'TACAGG 2' 'TACATT 1' 'TTACAG 2' 'TTACAT 1'
works kmer merge -o ab.bgk a.txt b.txt
check "the name of a format decides" bash -c 'head -c 7 ab.bgk | grep -q BIOGPUK'
works kmer merge -o mixed.jf a.txt a.jf
check "text and binary give binary" bash -c '! head -c 300 mixed.jf | grep -q text/sorted'

# KFF: counts above 1, and as small as they fit, for other tools.
printf '>r\nCCTGACCTGACC\n' >r.fa
works kmer count -q -m 7 -o r.kff r.fa
check "KFF holds counts" holds r.kff 'ACCTGAC 1' 'CCTGACC 2' 'CTGACCT 1' 'GACCTGA 1' 'TGACCTG 1'
size_of() { grep -abo 'data_size' "$1" | head -1 | cut -d: -f1 | { read -r at; tail -c +$((at + 11)) "$1" | head -c 8 | od -An -tu1 | tr -d ' \n'; }; }
check "a count of 2 takes a byte" [ "$(size_of r.kff)" = 00000001 ]
repeat() { for _ in $(seq "$1"); do printf '>x\n%s\n' "$2"; done; }
repeat 300 CCTGACC >many.fa
works kmer count -q -m 7 -o many.kff many.fa
check "a count of 300 takes two" [ "$(size_of many.kff)" = 00000002 ]
repeat 70000 CCTGACC >many.fa
works kmer count -q -m 7 -o most.kff many.fa
check "a count of 70000 takes four" [ "$(size_of most.kff)" = 00000004 ]
works kmer merge -o all.kff r.kff many.kff most.kff
check "and all are read back" holds all.kff 'ACCTGAC 1' 'CCTGACC 70302' 'CTGACCT 1' 'GACCTGA 1' 'TGACCTG 1'
if command -v kmc_tools >/dev/null; then
  # Sections of counts of one, two and four bytes: 65536 k-mers each.
  write_random 3 3 140000 ACGT s >s.fa
  { cat s.fa; repeat 300 "$(sed -n '2p' s.fa | cut -c 1-40)"; repeat 70000 "$(sed -n '4p' s.fa | cut -c 1-17)"; } >s2.fa
  works kmer count -q -m 17 -o s.kff s2.fa
  for name in r many most all s; do
    rm -f kmc.txt
    kmc_tools -hp transform $name.kff dump kmc.txt >kmc.log 2>&1
    check "KMC reads the counts of $name.kff" cmp <(tr '\t' ' ' <kmc.txt | LC_ALL=C sort) <(sorted $name.kff)
  done
fi

# Sketches of nothing.
printf '>s\nACGTACGTACGTNACGTACGTACGTNACGTACGT\n' >broken.fa
works kmer sketch -o broken.json broken.fa
check "an empty sketch is told" err_has 'broken.fa: has no k-mer of 21 bases'
works kmer dist broken.fa broken.fa
check "a warning" err_has 'broken.fa: has no k-mer of 21 bases'
check "alike" out_is 'broken.fa\tbroken.fa\t0\t1\t0/0\n'
printf '>l\nACGGTTGACATTGACCATGACTTGACCA\n' >long.fa
works kmer dist broken.json long.fa
check "of a sketch file too" err_has 'broken.fa: has no k-mer of 21 bases'
# As Mash: records that are all too short are no sketch.
printf '>s\nACGTACGTAACC\n>t\nGGGTTTAC\n' >short.fa
printf '' >empty.fa
for file in short.fa empty.fa; do
  what="$file: no record has 13 letters, the k of the sketch"
  fails 3 "$what" kmer sketch -k 13 -o none.json $file
  fails 3 "$what" kmer dist -k 13 $file $file
  fails 3 "$what" kmer dist -k 13 long.fa $file
done
check "nothing is written" absent none.json
works kmer sketch -k 5 -o other.json short.fa
check "no warning where there are k-mers" err_is_empty

if command -v jellyfish >/dev/null; then
  jellyfish count -m 6 -s 1k --if panel.fa -o ja.jf a.fa
  jellyfish count -m 6 -s 1k --if panel.fa -o jb.jf b.fa
  jellyfish count -m 6 -s 1k -o jc.jf b.fa
  for options in "" -m -M "-L 0" "-m -L 0" "-M -L 0" "-L 1" "-m -L 1" "-U 1" "-m -U 0" "-M -U 1"; do
    for files in "ja.jf jb.jf" "ja.jf jc.jf" "jc.jf ja.jf jb.jf"; do
      # shellcheck disable=SC2086
      jellyfish merge $options -o expected.jf $files
      # shellcheck disable=SC2086
      works kmer merge $options -o got.jf $files
      check "merge $options $files as Jellyfish" cmp <(jellyfish dump -c expected.jf) <(jellyfish dump -c got.jf)
    done
  done
  jellyfish merge -j -o expected.txt ja.jf jc.jf
  works kmer merge -j -o got.txt ja.jf jc.jf
  check "Jaccard as Jellyfish" same_files expected.txt got.txt
  for bc in once.bc twice.bc; do
    for bounds in "" "-L 1" "-U 0" "-L 1 -U 1"; do
      # shellcheck disable=SC2086
      jellyfish count -m 6 -s 1k --if panel.fa --bc $bc $bounds -o expected.jf a.fa b.fa
      # shellcheck disable=SC2086
      works kmer count -q -m 6 -s 1k --if panel.fa --bc $bc $bounds -o got.jf a.fa b.fa
      check "--if --bc $bc $bounds as Jellyfish" cmp <(jellyfish dump -c expected.jf) <(jellyfish dump -c got.jf)
    done
  done
fi

finish
