#!/usr/bin/env bash
# One rule for text in all commands: byte order marks, and bytes of FASTA that are no residues.
# docs/design/sequence-input.md has the rules.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
models=$source_dir/tests/data/models

with_mark() { { printf '\357\273\277' && cat "$1"; } >"$2"; }
utf16() { iconv -f ASCII -t UTF-16LE "$1" | { printf '\377\376' && cat; } >"$2"; }

# same_for PLAIN OTHER COMMAND...: the command with @ for the input gives the same for both files.
same_for() {
  local plain=$1 other=$2
  shift 2
  works "${@//@/$plain}"
  cp out.txt plain.out
  works "${@//@/$other}"
  check "$other is read as $plain" same_files plain.out out.txt
}

printf '>s1 the first\nGATTACATTGCAGGA\nCCTTA\n>s2\nTTGGCACGAATTCAGACC\n' >plain.fa
printf '@r1\nGATTACATTGCAGG\n+\nIIIIIIIIIIIIII\n@r2\nTTGGCACGAATTC\n+\nIIIIIIHHHHHHH\n' >plain.fq
printf '   A  C  G  T\nA  4 -3 -3 -3\nC -3  4 -3 -3\nG -3 -3  4 -3\nT -3 -3 -3  4\n' >plain.mat
printf '>p1\nMKVLAYWHE\n>p2\nMSTNQ\n' >plain.faa
for kind in fa fq mat faa; do
  with_mark plain.$kind mark.$kind
  gzip -c mark.$kind >mark.$kind.gz
  utf16 plain.$kind utf16.$kind
done

# same_by FUNCTION PLAIN OTHER: the function prints the same for both files.
same_by() {
  "$1" "$2" >plain.out
  "$1" "$3" >other.out
  check "$1: $3 is read as $2" same_files plain.out other.out
}
# shellcheck disable=SC2317  # called by same_by
count() { # count FILE: what `kmer dump` says of its k-mers
  works kmer count -q -m 5 -o k.jf "$1"
  works kmer dump -c k.jf
  sort out.txt
}
# shellcheck disable=SC2317
locate() { # locate GENOME
  works bwt index -q "$1" -p index
  works bwt locate -q -x index sites.fa
  cat out.txt
  works bwt extract -x index s1
  cat out.txt
}
# shellcheck disable=SC2317
trim() { # trim FILE
  works qc --quiet -l 5 -i "$1" -o trimmed.fq -j /dev/null -h /dev/null
  cat trimmed.fq
}
printf '>site\nTTGCAGGACC\n>other\nGGCACG\n' >sites.fa

# Byte order marks.
for mark in mark.fa mark.fa.gz; do
  same_for plain.fa $mark align --mode sw -q @ plain.fa
  same_for plain.fa $mark align --mode sw -q plain.fa @ --format paf
  same_by count plain.fa $mark
  same_by locate plain.fa $mark
done
for mark in mark.fq mark.fq.gz; do
  same_for plain.fq $mark align --mode sw -q @ plain.fa
  same_by trim plain.fq $mark
  check "qc keeps both reads of $mark" [ "$(trim $mark | grep -c .)" -eq 8 ]
done
same_for plain.mat mark.mat align --mode sw -q --matrix @ plain.fa plain.fa
same_for plain.faa mark.faa infer embed -q --include mean --model "$models/esm2_head16" @ -o -
# A model's texts, a genome with its index, and variants.
cp -r "$models/esm2_head16" marked
chmod -R u+w marked
for text in config.json vocab.txt; do
  [ ! -e "$models/esm2_head16/$text" ] || with_mark "$models/esm2_head16/$text" marked/$text
done
works infer embed -q --include mean --model "$models/esm2_head16" plain.faa -o -
cp out.txt plain.out
works infer embed -q --include mean --model marked plain.faa -o -
check "config.json and vocab.txt with a mark" same_files plain.out out.txt
dna=$models/enformer_tiny
cp "$dna/genome.fa" "$dna/variants.vcf" .
with_mark genome.fa genome_mark.fa
with_mark variants.vcf variants_mark.vcf
scores() { # scores GENOME VARIANTS OUT
  works infer variants -q --device cpu --model "$dna" --head human --scores SAD --bins centre --genome "$1" "$2" -o "$3"
}
scores genome.fa variants.vcf plain.tsv
scores genome_mark.fa variants.vcf mark.tsv
check "a genome with a mark" same_files plain.tsv mark.tsv
scores genome.fa variants_mark.vcf mark.tsv
check "VCF with a mark" same_files plain.tsv mark.tsv
if command -v bgzip >/dev/null; then
  bgzip -c genome_mark.fa >genome_mark.fa.gz
  scores genome_mark.fa.gz variants.vcf mark.tsv
  check "a compressed genome with a mark" same_files plain.tsv mark.tsv
fi
utf16 genome.fa utf16_genome.fa
fails 3 "utf16_genome.fa: begins with the byte order mark of UTF-16" infer variants -q --model "$dna" --genome utf16_genome.fa \
  variants.vcf -o x.tsv

if command -v bwa >/dev/null; then
  bwa index -p theirs mark.fa 2>bwa.log
  works bwt index -q --format bwa mark.fa -p ours
  for part in amb ann pac bwt sa; do check "$part of bwa, mark" same_files theirs.$part ours.$part; done
fi

# UTF-16.
utf="utf16.*: begins with the byte order mark of UTF-16"
fails 3 "$utf" align --mode sw utf16.fa plain.fa
fails 3 "$utf" align --mode sw --matrix utf16.mat plain.fa plain.fa
fails 3 "$utf" kmer count -m 5 -o k.jf utf16.fq
fails 3 "$utf" bwt index utf16.fa -p x
fails 3 "$utf" bwt index --format bwa utf16.fa -p x
fails 3 "$utf" qc --quiet -i utf16.fq -o x.fq -j /dev/null -h /dev/null
fails 3 "$utf" infer embed --model "$models/esm2_head16" utf16.faa -o x.npy

# Bytes that mean nothing in FASTA.
printf ';made by hand\n>s1 the first\n; half of it\n GATTA CATTGC\tAGGA \nCCTTA\n \n>s2\nTTGGCACG AATTCAGACC\t\n;end' >blanks.fa
sed 's/$/\r/' blanks.fa >crlf.fa
for other in blanks.fa crlf.fa; do
  same_for plain.fa $other align --mode sw -q @ plain.fa
  same_for plain.fa $other align --mode sw -q plain.fa @ --columns query,target,target_length,score,cigar
  same_by count plain.fa $other
  same_by locate plain.fa $other
  same_for plain.fa $other align parasail -x -a sw_trace_striped_16 -d -M 2 -X 3 -O SSW -f @ -q plain.fa
done
printf '>p1\nMKV LAY\n;later\nWHE\n>p2\n\tMSTNQ\n' >blanks.faa
same_for plain.faa blanks.faa infer embed -q --include mean --model "$models/esm2_head16" @ -o -
if command -v samtools >/dev/null; then
  printf '>s1\nGATTACA \nTTGCAGG \nACC\n' >spaces.fa
  works bwt index -q spaces.fa -p index
  works bwt extract -x index s1
  check "a genome with blanks as samtools reads it" same_files out.txt <(samtools faidx spaces.fa s1)
fi

# Bytes that are refused.
refused() { # refused TEXT PATTERN [PATTERN OF infer, which has tokens in angle brackets]
  printf '%b' "$1" >odd.fa
  fails 3 "odd.fa: $2" align --mode sw odd.fa plain.fa
  fails 3 "odd.fa: $2" align --mode sw plain.fa odd.fa
  fails 3 "odd.fa: $2" align parasail -x -f odd.fa -q plain.fa -g x.csv
  fails 3 "odd.fa: $2" kmer count -m 5 -o x.jf odd.fa
  fails 3 "odd.fa: $2" kmer sketch odd.fa -o x.msh
  fails 3 "odd.fa: $2" bwt index odd.fa -p x
  fails 3 "odd.fa: $2" bwt transform odd.fa -o x.bwt
  fails 3 "odd.fa: $2" bwt count -x index odd.fa
  fails 3 "odd.fa: ${3:-$2}" infer embed --model "$models/esm2_head16" odd.fa -o x.npy
}
works bwt index -q plain.fa -p index
refused '>a\nGATTA\n>b\nGATT\n 61 ACAGG\n' "record 2 (line 5): '6' in the sequence"
refused '>a\nGATTA;half\n' "record 1 (line 2): ';' in the sequence"
refused '>a\nGATTA\n\032' "record 1 (line 3): byte 0x1a in the sequence"
refused '>a\nGAT\rTA\n' "record 1 (line 2): byte 0x0d in the sequence"
refused '>a\nGATTA\n >b\nACC\n' "record 1 (line 3): '>' in the sequence" "record 1 (a): residue 6 is '>'"

# bwa's files are bwa's, with a warning.
printf '>a\nGATTACA \nTTG1CA\n;GGA\nCC\032\n>b\nTTAGG\n' >bytes.fa
works bwt index --format bwa bytes.fa -p ours
check "the warning has record, byte and number" err_has "bytes.fa: record 1: a blank in the sequence, 4 such bytes in all"
if command -v bwa >/dev/null; then
  bwa index -p theirs bytes.fa 2>bwa.log
  for part in amb ann pac bwt sa; do check "$part of bytes.fa is bwa's" same_files theirs.$part ours.$part; done
fi
works bwt index --format bwa plain.fa -p ours
check "no warning for letters alone" bash -c '! grep -q such err.txt'
printf '@r\nGATTAC\n+\nIIIII\n' >short.fq
fails 3 "short.fq: record 1 (line 4): quality has 5 symbols" bwt index --format bwa short.fq -p x
fails 3 "short.fq: record 1 (line 4): quality has 5 symbols" bwt index short.fq -p x

finish
