#!/usr/bin/env bash
# `--shard I/N`: for 1, 2, 3 and 7 parts, what the parts give together is what one run gives, byte by
# byte.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$source_dir/data
gzip -dc "$data/lambda_reads.fq.gz" >reads.fq
cp "$data/lambda_windows.fa" windows.fa
cp "$data/proteins.fa" proteins.fa
cp "$data/lambda.fa" genome.fa
works bwt index -q genome.fa
works bwt index -q --format bwa -p bwa genome.fa

# A line: the name of the output, then a command that writes it; PART stands for the output's file.
# shellcheck disable=SC2016
commands='
pairs.tsv align -q --mode sw --pairs reads.fq windows.fa -o PART
pairs.sam align -q --mode sg --pairs reads.fq windows.fa -o PART
all.paf align -q --mode sw --preset protein proteins.fa PROTEINS -o PART
self.tsv align -q --mode nw --matrix blosum62 --self PROTEINS -o PART
top.tsv align -q --mode sw --preset protein --top 2 proteins.fa PROTEINS -o PART
count.tsv bwt count -q -x genome.fa reads.fq -o PART
places.tsv bwt locate -q -x genome.fa -k 1 reads.fq -o PART
places.sam bwt locate -q -x genome.fa DATA/lambda_reads.fq.gz -o PART
smem.txt bwt smem -q -x bwa reads.fq -o PART
embed.npy infer embed -q --model ESM proteins.fa reads2.fa -o PART
logits.npy infer logits -q --model ESM PROTEINS -o PART
score.tsv infer score -q --model ESM --all-single --method wt-marginal PROTEINS -o PART
tracks.npy infer tracks -q --model TINY --head human dna.fa TINY/windows.fa -o PART
regions.npy infer tracks -q --model TINY --genome dna_genome.fa --head human --regions dna.bed --region chr2:200-300 -o PART
bins.npy infer embed -q --model TINY --genome dna_genome.fa --regions dna.bed -o PART
variants.tsv infer variants -q --model TINY --genome dna_genome.fa --grid 64 TINY/variants.vcf -o PART
variants.vcf infer variants -q --model TINY --genome dna_genome.fa --head human TINY/variants.vcf -o PART
changes.tsv infer mutagenesis -q --model TINY --genome dna_genome.fa --head human --regions dna.bed -o PART
'
head -c 4000 "$data/proteins.fa" | sed '$d' >few.fa
sed 's/^>/>again_/' few.fa >reads2.fa
tiny=$source_dir/tests/data/models/enformer_tiny
sed 's/^>/>again_/' "$tiny/windows.fa" >dna.fa
cp "$tiny/genome.fa" dna_genome.fa
printf 'chr1\t1040\t1043\tfirst\n# a comment\nchr2\t250\t252\nchr1\t5\t6\tlast\n' >dna.bed

# fill COMMAND OUTPUT: the words of one command.
fill() {
  local text=$1
  text=${text//PROTEINS/few.fa}
  text=${text//DATA/$data}
  text=${text//TINY/$tiny}
  text=${text//ESM/$source_dir/tests/data/models/esm2_head16}
  echo "${text//PART/$2}"
}
# shellcheck disable=SC2317  # called through check
without_program_line() { sed '/^@PG/d' "$1"; }
# shellcheck disable=SC2317
same_but_program_line() { cmp <(without_program_line "$1") <(without_program_line "$2"); }

while read -r name command; do
  [ -n "$name" ] || continue
  # shellcheck disable=SC2046
  works $(fill "$command" "whole.$name")
  for n in 1 2 3 7; do
    parts=()
    for i in $(seq "$n"); do
      # shellcheck disable=SC2046
      works $(fill "$command" "$i.$name") --shard "$i/$n"
      parts+=("$i.$name")
    done
    works gather -o "joined.$name" "${parts[@]}"
    check "$n parts of $command" same_but_program_line "whole.$name" "joined.$name"
    [ "${name##*.}" = npy ] &&
      check "the index of $n parts" same_files "whole.$name.index.tsv" "joined.$name.index.tsv"
  done
done <<<"$commands"

# Every part of more parts than records, and of no records, is there.
works align -q --mode sw --pairs reads.fq windows.fa -o part.tsv --shard 300/300
check "an empty part has its header" n_lines_is part.tsv 1
: >empty.fq
works bwt count -q -x genome.fa empty.fq -o part.tsv --shard 2/3

# k-mers add up, in one file and over several; the header tells its own command.
works kmer count -q -m 21 -C -s 1M --no-provenance -o whole.jf reads.fq "$data/lambda_reads.fq.gz" genome.fa
works kmer info -s whole.jf
cp out.txt whole.body
for n in 1 2 3 7; do
  parts=()
  for i in $(seq "$n"); do
    works kmer count -q -m 21 -C -s 1M --no-provenance --shard "$i/$n" -o "$i.jf" reads.fq "$data/lambda_reads.fq.gz" genome.fa
    parts+=("$i.jf")
  done
  works kmer merge -o joined.jf "${parts[@]}"
  works kmer info -s joined.jf
  check "$n parts of k-mers" same_files whole.body out.txt
done

# The queries' file decides what they are, not a part of it.
{ printf '>a\nMKWLLQRPSTVYHEDIMKWL\n'; for i in 1 2 3; do printf '>d%s\nACGTACGTACGTACGT\n' "$i"; done; } >mixed.fa
works align -q --mode sw mixed.fa few.fa -o whole.tsv
for i in 1 2 3 4; do works align -q --mode sw mixed.fa few.fa -o "$i.tsv" --shard "$i/4"; done
works gather -o joined.tsv 1.tsv 2.tsv 3.tsv 4.tsv
fails 2 "1.tsv and ./1.tsv are the same file; expected each part once" gather -o twice.tsv 1.tsv 2.tsv ./1.tsv
check "a part given twice: no output" absent twice.tsv
check "the alphabet of parts" same_files whole.tsv joined.tsv

gzip -dc "$data/lambda_reads.fq.gz" | awk 'NR % 4 == 1 { print ">" substr($1, 2) } NR % 4 == 2' | head -20 >few_reads.fa

# A part is resumed by itself, and its records keep their numbers.
works infer tracks -q --model "$tiny" --head human dna.fa "$tiny/windows.fa" --shard 2/2 --resume -o 2.tracks.tsv
works infer tracks -q --model "$tiny" --head human dna.fa "$tiny/windows.fa" -o whole.tracks.tsv
works infer tracks -q --model "$tiny" --head human dna.fa "$tiny/windows.fa" --shard 1/2 -o 1.tracks.tsv
works gather --format lines -o joined.tracks.tsv 1.tracks.tsv 2.tracks.tsv
check "with --resume" same_files whole.tracks.tsv joined.tracks.tsv
{ sed 's/^>/>good_/' "$tiny/windows.fa" && printf '>short\nACGT\n'; } >third.fa
fails 3 "third.fa: record 3" infer tracks -q --model "$tiny" third.fa --shard 2/2 --resume -o part.tracks.tsv
cp part.tracks.tsv.partial kept
fails 1 "part.tracks.tsv.partial: is of a run with other" infer tracks -q --model "$tiny" third.fa --shard 1/2 --resume -o part.tracks.tsv
check "what another part left stays" same_files kept part.tracks.tsv.partial
fails 3 "third.fa: record 3 ('short'): 4 letters" infer tracks -q --model "$tiny" third.fa --shard 2/2
works infer tracks -q --model "$tiny" third.fa --shard 1/2
sed 's/^chr2\t257\tv9\t./chr2\t257\tv9\tN/' "$tiny/variants.vcf" | sed '$s/^chr2/chr9/' >ninth.vcf
fails 3 "ninth.vcf: record 9 (chr9:257)" infer variants -q --model "$tiny" --genome dna_genome.fa ninth.vcf --shard 3/3

# What cannot be cut says so.
fails 2 "standard input passes once" infer tracks -q --model "$tiny" - --shard 1/2
fails 2 "standard input passes once" infer variants -q --model "$tiny" --genome dna_genome.fa - --shard 1/2
fails 2 "standard input passes once" infer tracks -q --model "$tiny" --genome dna_genome.fa --regions - --shard 1/2
fails 2 "logo" infer mutagenesis -q --model "$tiny" --genome dna_genome.fa --region chr1:5-6 --logo a.svg --shard 1/2
fails 2 "bcftools concat" gather -o x.bcf a.bcf b.bcf
printf '##fileformat=VCFv4.2\n#CHROM\n1\t2\n' >short.vcf
fails 3 "short.vcf: line 3 has 2 columns, VCF at least 8" gather -o never.vcf short.vcf
printf '##fileformat=VCFv4.3\n#CHROM\n' >other.vcf
fails 3 "other.vcf: has other lines in its header" gather -o never.vcf whole.variants.vcf other.vcf
fails 2 "expected part/parts" align -q --mode sw --pairs reads.fq windows.fa --shard 0/3
fails 2 "expected part/parts" align -q --mode sw --pairs reads.fq windows.fa --shard 4/3
fails 2 "expected part/parts" align -q --mode sw --pairs reads.fq windows.fa --shard 1
fails 2 "standard input passes once" bwt count -q -x genome.fa - --shard 1/2
fails 2 "kmer merge" kmer count -q -m 5 -L 2 -o x.jf reads.fq --shard 1/2
fails 2 "first occurrences" kmer count -q -m 5 --bf-size 1M -o x.jf reads.fq --shard 1/2
fails 3 "ends after record 9" align -q --mode sw --pairs reads.fq few.fa --shard 1/2
fails 2 "another part" qc -i reads.fq -o o.fq --dedup --shard 1/2
fails 2 "exclude each other" qc -i reads.fq -o o.fq --split 2 --shard 1/2
fails 3 "another line than the first" gather -o x.tsv whole.count.tsv whole.places.tsv
fails 2 "samtools cat" gather -o x.bam a.bam b.bam
printf '{}\0\1' >a.jf
printf '\x28\xb5\x2f\xfd....' >a.txt
fails 2 "a.jf: is no text; k-mers are joined by" gather -o x.jf a.jf a.jf
cp a.txt b.txt
fails 3 "a.txt: is compressed with zstd" gather -o x.txt a.txt b.txt
check "nothing of parts that are no text" absent x.jf
printf '@HD\tVN:1.6\n@SQ\tSN:a\tLN:4\n@PG\tID:x\tCL:1\n' >a.sam
printf '@HD\tVN:1.6\n@SQ\tSN:b\tLN:4\n@PG\tID:x\tCL:2\n' >b.sam
fails 3 "other targets" gather -o x.sam a.sam b.sam
check "nothing half-written" absent x.tsv

# Parts cut inside a row, at each byte of the last one, in each format.
cut_inside() {
  local format=$1 part=$2 n size
  size=$(wc -c <"$part")
  for ((n = size - 1; n > size - 1 - $(tail -1 "$part" | wc -c); --n)); do
    head -c "$n" "$part" >cut.part
    [ "$(tail -c 1 cut.part | tr '\n' x)" = x ] && continue
    for order in "cut.part $part" "$part cut.part"; do
      # shellcheck disable=SC2086
      fails 3 "cut.part: ends inside a line" gather --format "$format" -o never.out $order
    done
    gzip -c cut.part >cut.gz
    fails 3 "cut.gz: ends inside a line" gather --format "$format" -o never.out "$part" cut.gz
  done
  check "$format: nothing of cut parts" absent never.out
}
works bwt locate -q -x genome.fa -k 1 few_reads.fa -o few.tsv
works bwt locate -q -x genome.fa -k 1 few_reads.fa -o few.sam
works bwt locate -q -x genome.fa -k 1 few_reads.fa -o few.bed
cut_inside tsv few.tsv
cut_inside sam few.sam
cut_inside lines few.bed
head -c 20 few.tsv >cut.tsv
cp cut.tsv more.tsv
fails 3 "cut.tsv: ends inside a line of its header" gather -o never.out cut.tsv more.tsv
# A row that lost its end but not its line feed.
{ head -1 few.tsv && sed -n 2p few.tsv | cut -f 1-3; } >short.tsv
fails 3 "short.tsv: line 2 has 3 columns, the first line 6" gather -o never.out few.tsv short.tsv
works gather --format lines -o all.txt few.tsv short.tsv
{ grep '^@' few.sam && grep -v '^@' few.sam | head -1 | cut -f 1-7; } >short.sam
fails 3 "short.sam: line [0-9]* has 7 columns, SAM at least 11" gather -o never.out few.sam short.sam
: >nothing.tsv
fails 3 "nothing.tsv: is empty; expected a line of column names" gather -o never.out few.tsv nothing.tsv
works infer embed -q --model "$source_dir/tests/data/models/esm2_head16" few.fa -o few.npy
size=$(wc -c <few.npy)
cp few.npy.index.tsv cut.npy.index.tsv
for n in 0 5 60 $((size - 1)) $((size - 4)) $((size / 2)); do
  head -c "$n" few.npy >cut.npy
  fails 3 "cut.npy: " gather -o never.npy few.npy cut.npy
done
cp few.npy cut.npy
head -c -3 few.npy.index.tsv >cut.npy.index.tsv
fails 3 "cut.npy.index.tsv: does not fit its .npy" gather -o never.npy few.npy cut.npy
check "no rows of cut parts" absent never.npy
finish
