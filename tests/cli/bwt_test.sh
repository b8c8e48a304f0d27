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
for region in c2:0-5 c2:10-5 c2:x-5 c2:- c2:0; do
  fails 2 "region '$region': expected FIRST-LAST" bwt extract -x g $region
done
fails 2 "region 'c3:1-5': the file has no sequence 'c3'; it has c1, c2" bwt extract -x g c3:1-5
long=$(printf 'n%.0s' {1..3000})
fails 2 "(3004 bytes): the file has no sequence" bwt extract -x g "$long:1-2"
check "a long region is cut in its message" [ "$(wc -c <err.txt)" -lt 300 ]
works bwt extract -x g c1:30 c2:-4 c1:31- c2:12-20
check "open ends, and an end behind the record" out_is '>c1:30\nAGG\n>c2:-4\nTTTT\n>c1:31-\nGG\n>c2:12-20\nCA\n'
check "a cut region is told" err_has "region 'c2:12-20' goes beyond its record of 13 letters: 2 are written"
works bwt extract -x g c2:14-16
check "nothing of what lies behind the record" out_is '>c2:14-16\n'
if command -v samtools >/dev/null; then
  printf '>u\nACGGTTACGTGGNNCATTAG\n>u:4\nGGGGTTTTAA\n>v:3-6\nTACTACTACTAC\n>w,1\nCCCCAAAA\n' >regions.fa
  works bwt index -q regions.fa
  samtools faidx regions.fa
  for region in u u: u:7 u:7- u:-7 u:7-11 u:18-90 u:21-22 u:30 u:20 u:6-5 u:1,1-1,5 u:3x u:y '{u}:4' u:4 '{u:4}' u:4:2-3 \
    '{u:4}:2-3' v:3-6 '{v:3-6}' v:3-6:2 w,1:3-4 none none:2-3 u:1-2-3 '{u:4' u:,4-5 u:3-,9 u:5-99999999999999999999; do
    samtools faidx regions.fa "$region" >theirs.txt 2>theirs.err
    theirs=$?
    run bwt extract -q -x regions.fa "$region"
    if [ $theirs = 0 ]; then
      check "$region: taken, as samtools does" rc_is 0
      check "$region: as samtools gives it" same_files theirs.txt out.txt
    else
      check "$region: refused, as samtools does" rc_is 2
    fi
  done
fi

# Places in a record without a name could not be told from others.
printf '>a\nACGTT\n> b\nACGGT\n' >unnamed.fa
fails 3 "unnamed.fa: record 2 (line 3): the name is empty" bwt index unnamed.fa -p never
check "no index of records without a name" absent never.bgfm
works bwt index -q --format bwa unnamed.fa -p unnamed

# What is no sequence file has no index, and an index of the other kind is told.
gzip -c genome.fa >bytes.gz
printf '\0%.0s@x' {1..50} >binary
gzip -c binary >binary.gz
printf '@HD\tVN:1.6\n@SQ\tSN:c\tLN:9\nr\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n' >reads.sam
for file in binary binary.gz reads.sam; do
  fails 3 "$file: \(record 1 (line 1): .* begins the file\|holds alignments\)" bwt index $file -p never
  fails 3 "$file: is no FASTA or FASTQ" bwt index --format bwa $file -p never
done
printf 'BZh91AY' >x.bz2
printf '\x28\xb5\x2f\xfd....' >x.zst
fails 3 "x.bz2: is compressed with bzip2" bwt index x.bz2 -p never
fails 3 "x.zst: is compressed with zstd" bwt index x.zst -p never
printf '>a b\rACGT\r>c\rACGT\r' >return.fa
fails 3 "record 1 (line 1): a carriage return inside the header line" bwt index return.fa -p never
check "no index of what is no sequence" absent never.bgfm
printf '>a b\r\nACGT\r\n>c \r\nACGT\r\n' >return.fa
works bwt index -q return.fa -p return
printf '>p\nMKTLLEFGHIKL\n' >protein.fa
works bwt index protein.fa -p protein
check "letters that are no bases" err_has 'letters are neither a base nor N'
works bwt index -q --format bwa genome.fa -p only
fails 3 "only.bgfm: is not there, only an index of bwa" bwt count -x only q.fa
: >nothing.fa
works bwt index -q --format bwa nothing.fa -p nothing
fails 3 "nothing.ann: the index holds no sequence" bwt smem -x nothing q.fa
fails 3 "g.bwt: is not there, only the native index" bwt smem -x g q.fa

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
  # Its index under .64, which it looks for first, and its order of arguments.
  printf '>o\nGGATCCGATTACAGGATTACCAGATTACATTTGCCGCAT\n' >other.fa
  printf '>q\nGATTACAGGATTACCAGATT\n>r\nACGTTGCATGCAAGGC\n' >other_q.fa
  cp other.fa named.fa
  bwa index -6 named.fa 2>bwa.log
  bwa index -p named.fa genome.fa 2>bwa.log
  bwa fastmap -l 6 named.fa other_q.fa >theirs.txt 2>bwa.log
  for arguments in "named.fa other_q.fa" "-x named.fa other_q.fa"; do
    # shellcheck disable=SC2086
    works bwt smem -q -l 6 $arguments
    check "smem $arguments: .64 as bwa finds it" same_files out.txt theirs.txt
  done
  rm named.fa.64.bwt
  bwa fastmap -l 6 named.fa other_q.fa >theirs.txt 2>bwa.log
  works bwt smem -q -l 6 named.fa other_q.fa
  check "without .64 the other one" same_files out.txt theirs.txt
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

for command in smem count locate; do
  fails 2 "expected an index and queries: 'PREFIX QUERIES'" bwt $command q.fa
done
fails 3 "absent.bgfm: no index of that name; make it with 'biogpu bwt index'$" bwt locate -x absent q.fa
fails 3 "absent.bgfm: no index of that name" bwt stats absent
fails 3 "absent.bwt: no index of that name; make it with 'biogpu bwt index --format bwa'$" bwt smem absent q.fa
for command in count locate; do
  works bwt $command -q -x g q.fa
  cp out.txt with_option.txt
  works bwt $command -q g q.fa
  check "bwt $command takes the index in front of the queries" same_files out.txt with_option.txt
done
fails 2 "expected an index and queries" bwt smem -x a32.fa q.fa q.fa

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

# Files that are empty, cut or of another index, each next to four good ones.
printf '>a\nACGTACGTNNACGTAAGCTAGCATCGATCGATCAGCTAGCATCGACCCA\n' >else.fa
works bwt index -q --format bwa else.fa -p else
for suffix in bwt sa ann amb pac; do
  cp "flip.$suffix" whole
  size=$(wc -c <whole)
  for n in 0 1 39 40 47 48 55 56 $((size - 8)) $((size - 1)); do
    if ((n < 0 || n >= size)); then continue; fi
    case $suffix in ann | amb) [ "$n" -eq $((size - 1)) ] && continue ;; esac # a line feed
    head -c "$n" whole >"flip.$suffix"
    fails 3 "flip.$suffix: is damaged, of another index, or no index of bwa" bwt smem -q -x flip flip_q.fa
  done
  head -c 4096 /dev/zero | cat whole - >"flip.$suffix"
  [ $suffix = ann ] || [ $suffix = amb ] || fails 3 "flip.$suffix: is damaged" bwt smem -q -x flip flip_q.fa
  cp "else.$suffix" "flip.$suffix"
  fails 3 "is damaged, of another index" bwt smem -q -x flip flip_q.fa
  cp whole "flip.$suffix"
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
fails 3 'missing.bgfm' bwt count -q -x missing q.fa
head -c 300 g.bgfm >cut.bgfm
fails 3 'cut short' bwt count -q -x cut q.fa
cp genome.fa text.bgfm
fails 3 "is no biogpu index" bwt stats -q text
printf '@r\nACGT\n+\nII\n' >bad.fq
printf 'no record here\n' >prose.txt
fails 3 'prose.txt: record 1 (line 1): .n. begins the file' bwt index -q prose.txt -p prose
fails 3 'quality has 2 symbols, sequence has 4' bwt index -q --format bwa bad.fq -p bad
check "nothing under the final name" absent bad.bwt
printf 'ACGT\n' >no.bwt
fails 3 'no Burrows-Wheeler transform' bwt inverse -q no.bwt
printf 'AC\nGT$$\n' >low.bwt
fails 3 'low.bwt: .*byte 10 at offset 2' bwt inverse -q low.bwt
fails 2 "the file has no sequence 'c9'" bwt extract -q -x g c9:1-2

finish
