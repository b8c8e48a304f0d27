#!/usr/bin/env bash
# Inputs that can be read only once are refused where they are given twice: standard input, and pipes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
models=$source_dir/tests/data/models

write_random 3 12 60 ACGT s >a.fa
awk '/^>/ { print "@" substr($0, 2); next } { q = $0; gsub(/./, "I", q); print $0 "\n+\n" q }' a.fa >r.fq
printf '>p\nMKTAYIAKQR\n' >p.fa
printf '2\n\nH 0 0 0\nH 0 0 0.8\n' >h2.xyz
works kmer count -q -m 9 -o k.jf a.fa
works bwt index -q -p a a.fa

twice="'-' is given twice; standard input can be read only once"
# refused PATTERN INPUT ARGUMENTS...: the run ends with 2 and one line, and writes nothing.
refused() {
  local pattern=$1 input=$2
  shift 2
  rm -f o.*
  fails 2 "$pattern" "$@" <"$input"
  check "nothing is written" bash -c '! ls o.* 2>/dev/null'
}

refused "$twice" a.fa kmer count -m 9 - - -o o.jf
refused "$twice" a.fa kmer count -m 9 --if - - -o o.jf
refused "$twice" a.fa kmer bc -m 9 -s 1000 - - -o o.bc
refused "$twice" k.jf kmer merge - - -o o.jf
refused "$twice" k.jf kmer set union - - -o o.jf
refused "$twice" a.fa kmer sketch -k 9 - - -o o.json
refused "$twice" a.fa kmer dist -k 9 - -
refused "$twice" a.fa kmer query k.jf -s - -s -
refused "$twice" r.fq gather - - -o o.tsv
refused "$twice" r.fq qc-merge - - -j o.json -h o.html
refused "QUERY and TARGET cannot both be standard input" a.fa align --mode sw - - -o o.tsv
refused "-f '-' and -q '-' are the same stream; standard input can be read only once" a.fa align parasail -a sw -f - -q -
refused "in1 and --in2 are the same file" r.fq qc -i - -I - -o o.fq -O o.2.fq
refused "--in1 '-' and --adapter_fasta '-' are the same stream" r.fq qc -i - --adapter_fasta - -o o.fq -j o.json -h o.html
refused "$twice" p.fa infer score --model "$models/esm2_head16" - - -o o.tsv
for task in embed logits contacts; do
  refused "$twice" p.fa infer "$task" --model "$models/esm2_head16" - - -o o.npz
done
refused "$twice" h2.xyz infer energy --model "$models/tensornet/o3" - - -o o.tsv
refused "$twice" h2.xyz infer relax --model "$models/tensornet/o3" - - -o o.extxyz
refused "$twice" h2.xyz infer md --model "$models/tensornet/o3" - - -o o.extxyz
refused "$twice" a.fa infer tracks --model "$models/enformer_tiny" - - -o o.npz

# A pipe by any of its names. A file may be read twice.
mkfifo feed
fails 2 "'feed' is given twice; a pipe can be read only once" kmer count -m 9 feed feed -o o.jf
run kmer count -m 9 - /dev/stdin -o o.jf < <(cat a.fa)
check "exit code 2" rc_is 2
check "the two names" err_has "the input '-' and the input '/dev/stdin' are the same stream; a pipe can be read only once"
check "nothing is written" absent o.jf
works kmer count -q -m 9 a.fa a.fa -o o.jf
works kmer count -q -m 9 /dev/null /dev/null -o o.jf
works kmer count -q -m 9 - r.fq -o o.jf <a.fa

finish
