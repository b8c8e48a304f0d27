#!/usr/bin/env bash
# `biogpu bwt`: index files, transforms, searches and their inverses, from the command line.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Two records, one with a hole; a query on each strand, one with a mismatch, one nowhere.
printf '>c1 first\nACGTTGCATGCAAGGCTTNNNNACGTTGCAGG\n>c2\nTTTTACGATTACA\n>empty\n' >genome.fa
printf '>both\nACGTTGCA\n>reverse\nTGTAATCG\n>near\nACGATTAGA\n>none\nCCCCCCCC\n>odd\nACGN\n' >q.fa

works bwt index -q genome.fa -p g
check "the native index" exists g.bgfm
works bwt count -q -x g q.fa
check "counts by strand" out_is '#query\tforward\treverse\ttotal\nboth\t2\t0\t2\nreverse\t0\t1\t1\nnear\t0\t0\t0\nnone\t0\t0\t0\nodd\t0\t0\t0\n'
works bwt count -q -x g.bgfm --strand forward q.fa
check "one strand" out_has '^reverse	0	0	0$'
works bwt locate -q -x g q.fa
check "places" out_is '#query\ttarget\tbegin\tend\tstrand\tmismatches\nboth\tc1\t0\t8\t+\t0\nboth\tc1\t22\t30\t+\t0\nreverse\tc2\t5\t13\t-\t0\n'
works bwt locate -q -x g -k 1 -f bed q.fa
check "places with a mismatch, as BED" out_has '^c2	4	13	near	1	+$'
check "a letter that matches nothing is a mismatch" out_has '	odd	1	'
fails 2 "max-hits" bwt locate -q -x g --max-hits -1 q.fa
fails 1 "none/run.json" bwt locate -q -x g q.fa --json none/run.json -o never.tsv
check "no places without a summary" absent never.tsv
works bwt locate -q -x g q.fa -o places.sam.gz
check "SAM by its suffix" bash -c 'gzip -dc places.sam.gz | grep -q "^@SQ"'
works bwt locate -q -x g --max-hits 1 -f sam q.fa
check "SAM header" out_has '^@SQ	SN:c1	LN:32$'
check "SAM place" out_has '^reverse	16	c2	6	255	8M	'
check "SAM without a place" out_has '^none	4	\*	0	'
check "cut places are told" err_has 'more than 1 places'
works bwt stats g
check "numbers" out_has '^segments	3$'
works bwt extract -x g c1:15-26 c2
check "regions" out_is '>c1:15-26\nGCTTNNNNACGT\n>c2\nTTTTACGATTACA\n'

works bwt extract -x g c2:1,0-1,3
check "numbers with commas" out_is '>c2:1,0-1,3\nTACA\n'
for region in c2:0-5 c2:10-5 c2:x-5 c2:5; do
  fails 2 "region '$region': expected FIRST-LAST" bwt extract -x g $region
done
fails 2 "no record for region 'c3:1-5'" bwt extract -x g c3:1-5

# What is no sequence file has no index, and an index of the other kind is told.
gzip -c genome.fa >bytes.gz
printf '\0%.0s@x' {1..50} >binary
gzip -c binary >binary.gz
printf '@HD\tVN:1.6\n@SQ\tSN:c\tLN:9\nr\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n' >reads.sam
for file in binary binary.gz reads.sam; do
  fails 3 "$file: is no FASTA or FASTQ" bwt index $file -p never
done
printf 'BZh91AY' >x.bz2
printf '\x28\xb5\x2f\xfd....' >x.zst
fails 3 "x.bz2: is compressed with bzip2" bwt index x.bz2 -p never
fails 3 "x.zst: is compressed with zstd" bwt index x.zst -p never
printf '>a b\rACGT\r>c\rACGT\r' >return.fa
fails 3 "record 1: a carriage return inside the header line" bwt index return.fa -p never
check "no index of what is no sequence" absent never.bgfm
printf '>a b\r\nACGT\r\n>c \r\nACGT\r\n' >return.fa
works bwt index -q return.fa -p return
printf '>p\nMKTLLEFGHIKL\n' >protein.fa
works bwt index protein.fa -p protein
check "letters that are no bases" err_has 'letters are neither a base nor N'
works bwt index -q --format bwa genome.fa -p only
fails 1 "only.bgfm: is not there, only an index of bwa" bwt count -x only q.fa
: >nothing.fa
works bwt index -q --format bwa nothing.fa -p nothing
fails 3 "nothing.ann: the index holds no sequence" bwt smem -x nothing q.fa
fails 1 "g.bwt: is not there, only the native index" bwt smem -x g q.fa

# The same bytes for any number of threads, batch and device.
write_random 1 40 3000 ACGTacgtN r >genome2.fa
works bwt index -q -t 1 genome2.fa -p one
works bwt index -q -t 3 genome2.fa -p three
check "index, any threads" same_files one.bgfm three.bgfm
gzip -c genome2.fa >genome2.fa.gz
works bwt index -q - -p three <genome2.fa.gz
check "index of compressed standard input" same_files one.bgfm three.bgfm
awk '!/^>/ {for (i = 1; i + 60 < length($0); i += 41) printf ">q%d\n%s\n", ++n, substr($0, i, 60)}' genome2.fa >q2.fa
works bwt locate -q -k 2 -x one q2.fa -t 1
cp out.txt places.tsv
works bwt locate -q -k 2 -x one q2.fa -t 3 --batch 7
check "places, any threads and batch" same_files out.txt places.tsv
if [ "$backend" = emulated ]; then
  head -400 q2.fa >q3.fa
  works bwt locate -q -x one q3.fa --device cpu
  cp out.txt places.tsv
  works bwt locate -q -x one q3.fa --device gpu
  check "places, GPU" same_files out.txt places.tsv
  works bwt index -q --format bwa --device cpu genome.fa -p cpu
  works bwt index -q --format bwa --device gpu genome.fa -p gpu
  for part in amb ann pac bwt sa; do check "$part, GPU" same_files "cpu.$part" "gpu.$part"; done
  works bwt index -q --device cpu genome.fa -p cpu
  works bwt index -q --device gpu genome.fa -p gpu
  check "native, GPU" same_files cpu.bgfm gpu.bgfm
  works bwt index -q --device gpu --max-device-memory 1M --format bwa genome.fa -p gpu
  for part in bwt sa; do check "$part, GPU in blocks" same_files "cpu.$part" "gpu.$part"; done
fi

# bwa's files. Without bwa: the sizes and numbers known for 32 times A.
printf '>a\n%s\n' AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA >a32.fa
works bwt index -q --format bwa a32.fa
check "size of .bwt" test "$(wc -c <a32.fa.bwt)" -eq 120
check "size of .sa" test "$(wc -c <a32.fa.sa)" -eq 72
printf '32 1 11\n0 a (null)\n0 32 0\n' >expected.ann
check ".ann" same_files a32.fa.ann expected.ann
printf 'ignored\n>x  two blanks \r\nACGTNNnnR-acgu\r\nAC GT\n>x\n>y\ttab\nTTTTNNNN' >odd.fa
printf '@r1\nACGNT\n+\nIIIII\n@r2 c\nAC\nGT\n+r2\nII\nII\n' >reads.fq
: >nothing.fa
if command -v bwa >/dev/null; then
  for input in odd.fa reads.fq nothing.fa genome.fa genome2.fa genome2.fa.gz "$source_dir/data/lambda.fa"; do
    bwa index -p theirs "$input" 2>bwa.log || true
    works bwt index -q --format bwa -a bwtsw -b 1000 -p ours "$input"
    for part in amb ann pac bwt sa; do
      check "$part of $input is bwa's" same_files "theirs.$part" "ours.$part"
    done
  done
  # Matches, as bwa tells them.
  works bwt index -q --format bwa "$source_dir/data/lambda.fa" -p lambda
  bwa fastmap lambda "$source_dir/data/lambda_reads.fq.gz" >theirs.txt 2>bwa.log
  works bwt smem -q -x lambda "$source_dir/data/lambda_reads.fq.gz" -t 2
  check "maximal matches are bwa's" same_files out.txt theirs.txt
  bwa fastmap -l 9 -w 3 ours q2.fa >theirs.txt 2>bwa.log
  works bwt index -q --format bwa genome2.fa -p ours
  bwa fastmap -l 9 -w 3 ours q2.fa >theirs.txt 2>bwa.log
  works bwt smem -q -l 9 -w 3 -x ours q2.fa
  check "short and frequent matches are bwa's" same_files out.txt theirs.txt
  printf '>c\nCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC\n' >poor.fa
  printf '>q\nCCCCCCCCCCtCCCCCCCCCCCCCC\n>r\nTTCCGGA\n>s\nANGTC\n' >poor_q.fa
  works bwt index -q --format bwa poor.fa -p poor
  for w in 0 20; do
    bwa fastmap -l 2 -w $w poor poor_q.fa >theirs.txt 2>bwa.log
    works bwt smem -q -l 2 -w $w -x poor poor_q.fa
    check "so are those of bases that a text does not have" same_files out.txt theirs.txt
  done
else
  echo "bwa not found: the comparison with it is left out"
fi

# A byte that is another one: refused, or a base of no row, but nothing that crashes or never ends.
printf '>a\nACGTACGTNNACGTAAGCTAGCATCGATCGATCAGCTAGCATCGAC\n>b\nGGGGACATCAGCATCGACTACGACTAGC\n' >flip.fa
printf '>q\nACGTACGTAAGCTAG\n>r\nGATCGATCNGGGG\n' >flip_q.fa
works bwt index -q --format bwa flip.fa -p flip
for suffix in bwt sa ann; do
  cp "flip.$suffix" whole
  size=$(wc -c <whole)
  wrong=0
  for ((i = 0; i < size; i += 3)); do
    python3 -c 'import sys
bytes = bytearray(open("whole", "rb").read())
bytes[int(sys.argv[1])] ^= 0x10
open(sys.argv[2], "wb").write(bytes)' "$i" "flip.$suffix"
    run bwt smem -q -l 3 -x flip flip_q.fa
    rc_is 0 || rc_is 3 || wrong=$((wrong + 1))
  done
  cp whole "flip.$suffix"
  check "no crash by damage to .$suffix" [ "$wrong" -eq 0 ]
done
works bwt smem -q -l 3 -x flip flip_q.fa

# Transforms and back.
printf '>1\nAGG\n>2\nAGC\n' >s.fa
works bwt transform -q s.fa
# shellcheck disable=SC2016  # dollars are sentinels
check "two strings" out_is 'GC$$GGAA\n'
works bwt transform -q genome2.fa -o g2.bwt
works bwt inverse -q -f fasta g2.bwt
check "the strings come back" bash -c 'cmp <(grep -v ">" out.txt) <(grep -v ">" genome2.fa)'
head -c 2000000 "$biogpu" >self
works bwt transform -q --bytes self -o self.bwt
works bwt inverse -q self.bwt -o back
check "any bytes come back" same_files self back

if [ "$backend" = emulated ]; then
  works bwt transform -q --device gpu genome2.fa -o gpu.bwt
  works bwt transform -q --device cpu genome2.fa -o cpu.bwt
  check "strings, GPU" same_files gpu.bwt cpu.bwt
  head -c 20000 "$biogpu" >self
  works bwt transform -q --bytes --device gpu self -o gpu.bwt
  works bwt transform -q --bytes --device cpu self -o cpu.bwt
  check "bytes, GPU" same_files gpu.bwt cpu.bwt
  works bwt transform -q --bytes --device gpu --max-device-memory 1M --json run.json self -o gpu.bwt
  check "bytes, GPU in blocks" same_files gpu.bwt cpu.bwt
  check "the GPU is named" grep -q '"used": "gpu:0"' run.json
fi

# What cannot be done is said.
fails 2 'needs a name' bwt index -q - </dev/null
fails 1 'missing.bgfm' bwt count -q -x missing q.fa
head -c 300 g.bgfm >cut.bgfm
fails 3 'cut short' bwt count -q -x cut q.fa
cp genome.fa text.bgfm
fails 3 "is no biogpu index" bwt stats -q text
printf '@r\nACGT\n+\nII\n' >bad.fq
printf 'no record here\n' >prose.txt
fails 3 'prose.txt: holds no record' bwt index -q prose.txt -p prose
fails 3 'quality has 2 symbols, sequence has 4' bwt index -q --format bwa bad.fq -p bad
check "nothing under the final name" absent bad.bwt
printf 'ACGT\n' >no.bwt
fails 3 'no Burrows-Wheeler transform' bwt inverse -q no.bwt
fails 2 'no record for region' bwt extract -q -x g c9:1-2

finish
