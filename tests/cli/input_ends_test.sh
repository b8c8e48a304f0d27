#!/usr/bin/env bash
# Inputs whose compressed text lacks its end or its whole: BGZF without the empty block at its end,
# which some writers leave out, and files of 0 bytes with the name of a gzip file.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
models=$source_dir/tests/data/models

# bgzf FROM TO: BGZF blocks of 300 bytes of text, without the empty block at the end. Where a block
# ends does not follow the lines.
bgzf() {
  python3 - "$1" "$2" <<'P'
import struct, sys, zlib
text = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb") as to:
    for at in range(0, len(text), 300):
        piece = text[at:at + 300]
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = packer.compress(piece) + packer.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
        to.write(head + packed + struct.pack("<II", zlib.crc32(piece), len(piece)))
P
}
# warned FILE: the last run gave one warning about it.
# shellcheck disable=SC2317  # called through check
warned() { [ "$(grep -c "warning: $1: ends without BGZF's end marker; the file may be cut short" err.txt)" -eq 1 ]; }

write_random 3 40 90 ACGT s >a.fa
awk '/^>/ {name = substr($0, 2); next} {quality = $0; gsub(/./, "I", quality); print "@" name "\n" $0 "\n+\n" quality}' a.fa >r.fq
bgzf a.fa a.fa.gz
bgzf r.fq r.fq.gz

works qc -A -i r.fq -o plain.fq -j p.json -h p.html
for more in "" --lenient; do
  # shellcheck disable=SC2086
  works qc --quiet -A $more -i r.fq.gz -o o.fq -j q.json -h q.html
  check "qc $more warns" warned r.fq.gz
  check "qc $more: the reads are all there" same_files plain.fq o.fq
done
cp r.fq.gz m.fq.gz
works qc --quiet -A -i r.fq.gz -I m.fq.gz -o o.fq -O o2.fq -j q.json -h q.html
check "mates: a warning" warned r.fq.gz
check "each" warned m.fq.gz
for file in a.fa r.fq; do
  works kmer count -q -m 9 -o plain.jf $file
  works kmer count -q -m 9 -o packed.jf $file.gz
  check "kmer count warns" warned $file.gz
  works kmer dump -c plain.jf -o plain.txt
  works kmer dump -c packed.jf -o packed.txt
  check "kmer count: the same counts" same_files plain.txt packed.txt
  works kmer sketch -o plain.json -k 9 $file
  works kmer sketch -o packed.json -k 9 $file.gz
  check "kmer sketch warns" warned $file.gz
  works align --mode sw -q $file a.fa -o plain.tsv
  works align --mode sw -q $file.gz a.fa -o packed.tsv
  check "align warns" warned $file.gz
  check "align: the same rows" same_files plain.tsv packed.tsv
done
works bwt index -q -p plain a.fa
works bwt index -q -p packed a.fa.gz
check "bwt index warns" warned a.fa.gz
works bwt count -q -x packed r.fq.gz
check "bwt count warns" warned r.fq.gz
printf 'ACGTACGT\n' >barcodes && bgzf barcodes barcodes.gz
works qc --quiet -A -i r.fq --filter_by_index1 barcodes.gz -o o.fq -j q.json -h q.html
check "a list of barcodes: a warning" warned barcodes.gz
bgzf "$models/enformer_tiny/variants.vcf" v.vcf.gz
cp "$models/enformer_tiny/genome.fa" .
variants=(infer variants -q --model "$models/enformer_tiny" --genome genome.fa --head human --tracks 0 --skip-bad)
works "${variants[@]}" "$models/enformer_tiny/variants.vcf" -o plain.tsv
works "${variants[@]}" v.vcf.gz -o packed.tsv
check "VCF: a warning" warned v.vcf.gz
check "VCF: the same rows" same_files plain.tsv packed.tsv
mkdir packed && bgzf genome.fa packed/genome.fa.gz
works "${variants[@]/#genome.fa/packed/genome.fa.gz}" "$models/enformer_tiny/variants.vcf" -o packed.tsv
check "a genome: a warning" warned packed/genome.fa.gz
check "a genome: the same rows" same_files plain.tsv packed.tsv
printf '@HD\tVN:1.6\n@SQ\tSN:c\tLN:99\nr1\t4\t*\t0\t0\t*\t*\t0\t0\tACGTTGCA\tIIIIIIII\n' >r.sam
bgzf r.sam r.sam.gz
works kmer count -q -m 5 -o k.jf r.sam.gz
check "SAM: a warning" warned r.sam.gz
# What a cut takes away is an error all the same, in a line, in a record and in a block.
head -c 2000 a.fa | sed '$ s/$/AC/' >cut.fa && printf '%s' "$(cat cut.fa)" >line.fa && bgzf line.fa line.fa.gz
fails 3 'line.fa.gz: ends inside a line and without' kmer count -q -m 9 -o k.jf line.fa.gz
head -n 6 r.fq >record.fq && bgzf record.fq record.fq.gz
fails 3 'record.fq.gz: record 2 ' kmer count -q -m 9 -o k.jf record.fq.gz
fails 3 'record.fq.gz: record 2 ' qc --quiet -i record.fq.gz -o o.fq -j q.json -h q.html
head -c 1500 r.fq.gz >block.fq.gz
fails 3 'block.fq.gz: ends inside a BGZF block' kmer count -q -m 9 -o k.jf block.fq.gz

# A download that failed at its first byte.
for name in e.fq.gz e.fa.gz e.VCF.GZ e.txt.gz e.bgz; do : >$name; done
what='has 0 bytes; expected gzip, as its name says'
rm -f o.fq k.jf
fails 3 "e.fq.gz: $what" qc --quiet -i e.fq.gz -o o.fq -j q2.json -h q2.html
fails 3 "e.fq.gz: $what" qc --quiet --lenient -i e.fq.gz -o o.fq -j q2.json -h q2.html
fails 3 "e.fq.gz: $what" qc --quiet -i r.fq -I e.fq.gz -o o.fq -O o2.fq -j q2.json -h q2.html
fails 3 "e.txt.gz: $what" qc --quiet -i r.fq --adapter_fasta e.txt.gz -o o.fq -j q2.json -h q2.html
fails 3 "e.fq.gz: $what" kmer count -q -m 9 -o k.jf e.fq.gz
fails 3 "e.bgz: $what" kmer count -q -m 9 -o k.jf e.bgz
fails 3 "e.fq.gz: $what" kmer sketch -k 9 -o k.json e.fq.gz
fails 3 "e.fa.gz: $what" align --mode sw -q a.fa e.fa.gz -o o.tsv
fails 3 "e.fa.gz: $what" bwt index -q -p e e.fa.gz
fails 3 "e.fq.gz: $what" bwt count -q -x plain e.fq.gz
fails 3 "e.VCF.GZ: $what" "${variants[@]}" e.VCF.GZ -o o2.tsv
check "nothing is left" bash -c '[ ! -e o.fq ] && [ ! -e k.jf ] && [ ! -e q2.json ] && [ ! -e o.tsv ] && [ ! -e o2.tsv ]'
finish
