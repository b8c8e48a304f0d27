#!/usr/bin/env bash
# What `biogpu kmer` writes, against fixed texts and, where it is installed, against Jellyfish 2.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
printf '>s1\nACGTACGTNACGTTGCA\nacgtaccR\n>s2\nTTTTT\nGGGGG\n>s3 short\nAC\n' >t.fa

works kmer count -q --device cpu -m 4 -s 10 -C -o t.jf t.fa
works kmer dump -c t.jf
check "dump -c, in Jellyfish's order" out_is 'AAAA 2\nACGT 4\nCCCA 1\nGTAC 2\nCAAA 1\nGGTA 1\nAACG 2\nCGTA 3\nCCAA 1\nTGCA 1\nCCCC 2\nGCAA 2\nCAAC 2\n'
cp out.txt dump.txt
works kmer dump -c -t -L 2 -U 3 t.jf
check "dump -t -L -U" out_is 'AAAA\t2\nGTAC\t2\nAACG\t2\nCGTA\t3\nCCCC\t2\nGCAA\t2\nCAAC\t2\n'
works kmer dump t.jf
check "dump as FASTA" bash -c 'paste -d" " - - <out.txt | sed "s/>\(.*\) \(.*\)/\2 \1/" | cmp - dump.txt'
works kmer stats t.jf
check "stats" out_is 'Unique:    5\nDistinct:  13\nTotal:     24\nMax_count: 4\n'
works kmer histo t.jf
check "histo" out_is '1 5\n2 6\n3 1\n4 1\n'
works kmer histo -f -h 5 t.jf
check "histo -f -h" out_is '0 0\n1 5\n2 6\n3 1\n4 1\n5 0\n6 0\n'
works kmer query t.jf ACGT GTTG
check "query" out_is 'ACGT 4\nCAAC 2\n'
works kmer query t.jf ACG NNNN
check "query says what it cannot look up" err_has "Invalid mer 'NNNN'"
works kmer query -s t.fa t.jf
check "query of a sequence file" n_lines_is out.txt 24
printf 'ACGT GTTG\n' | "$biogpu" kmer query -i t.jf >out.txt 2>err.txt
check "query of standard input" out_is '4\n2\n'
printf 'CGTA\nTTTT\n' | "$biogpu" kmer query -i -o answers.txt t.jf CCCC >out.txt 2>err.txt
check "its answers go where -o says, behind the others" cmp answers.txt <(printf 'CCCC 2\n3\n2\n')
check "and nowhere else" [ ! -s out.txt ]
works kmer info t.jf
check "info" out_has '^canonical: yes$'
works kmer merge -o sum.jf t.jf t.jf
works kmer query sum.jf ACGT
check "merge adds" out_is 'ACGT 8\n'
works kmer info sum.jf
check "merge keeps what canonical means" out_has '^canonical: yes$'

# The same in other clothes, and on every device.
works kmer count -q -m 21 -C -s 100k -t 1 --no-provenance -o one.jf "$source_dir/data/lambda_reads.fq.gz" "$source_dir/data/lambda.fa"
works kmer info -s one.jf
cp out.txt one.body
for options in "-t 3" "--batch 7" "--max-memory 1" "--device cpu" "--device auto"; do
  # shellcheck disable=SC2086
  works kmer count -q -m 21 -C -s 100k $options -o other.jf "$source_dir/data/lambda_reads.fq.gz" "$source_dir/data/lambda.fa"
  works kmer info -s other.jf
  check "the same records with $options" same_files out.txt one.body
done
if [ "$backend" = emulated ]; then
  gzip -dc "$source_dir/data/lambda_reads.fq.gz" | head -n 1200 >some.fq
  for k in 1 4 15 21 31 32 33 55 64 65 127; do
    for options in "" "-C -Q 5 -L 2"; do
      # shellcheck disable=SC2086
      works kmer count -q -m $k $options -s 10k --device cpu -o cpu.jf some.fq
      works kmer info -s cpu.jf
      cp out.txt cpu.body
      for devices in 1 3; do
        # shellcheck disable=SC2086
        BIOGPU_EMULATED_DEVICES=$devices works kmer count -q -m $k $options -s 10k --device gpu --max-device-memory 300k -o gpu.jf some.fq
        works kmer info -s gpu.jf
        check "k=$k $options: the records of $devices GPUs are the CPU's" same_files out.txt cpu.body
      done
    done
    works kmer query -s some.fq cpu.jf
    cp out.txt cpu.txt
    works kmer query --device gpu -s some.fq cpu.jf
    check "k=$k: the GPU finds what the CPU does" same_files out.txt cpu.txt
  done
  works kmer count -q -m 21 -o cpu.bgk some.fq
  works kmer query -s "$source_dir/data/lambda.fa" cpu.bgk
  cp out.txt cpu.txt
  works kmer query --device gpu -s "$source_dir/data/lambda.fa" cpu.bgk
  check "the GPU finds what the CPU does in a .bgk file" same_files out.txt cpu.txt
fi
gzip -dc "$source_dir/data/lambda_reads.fq.gz" | "$biogpu" kmer count -q -m 21 -C -s 100k -o other.jf - "$source_dir/data/lambda.fa"
works kmer info -s other.jf
check "the same records from standard input" same_files out.txt one.body

# Inputs and filters that pipelines name as for Jellyfish.
gzip -dc "$source_dir/data/lambda_reads.fq.gz" >reads.fq
printf '# commands\n\ngzip -dc "%s"\n  cat "%s"\n' "$source_dir/data/lambda_reads.fq.gz" "$source_dir/data/lambda.fa" >commands.txt
for options in "-G 1" "-G 2 -S /bin/sh" "-G 7 -t 3 --disk -F 2 --timing seconds.txt"; do
  # shellcheck disable=SC2086
  works kmer count -q -m 21 -C -s 100k -g commands.txt $options -o other.jf
  works kmer info -s other.jf
  check "the same records with -g $options" same_files out.txt one.body
done
check "--timing has three lines" bash -c "grep -cE '^(Init    |Counting|Writing ) [0-9]' seconds.txt | grep -qx 3"
works kmer count -q -m 21 -C -s 100k --sam reads.fq -o other.jf "$source_dir/data/lambda.fa"
works kmer info -s other.jf
check "the same records with --sam" same_files out.txt one.body
works kmer count -q -m 21 -C -s 100k --if t.fa --if "$source_dir/data/lambda.fa" -o wanted.jf reads.fq
works kmer dump -c wanted.jf
check "--if keeps what was never seen" bash -c "awk '{print \$1}' out.txt | LC_ALL=C sort | cmp - <(awk '{print \$1}' <('$biogpu' kmer count -q -m 21 -C -o w.bgk t.fa '$source_dir/data/lambda.fa' && '$biogpu' kmer dump -c w.bgk))"
works kmer count -q -m 21 -C -s 100k --bf-size 1M -o filtered.jf reads.fq
works kmer count -q -m 21 -C -s 100k -o plain.jf reads.fq
works kmer dump -c filtered.jf
check "--bf-size takes one from every count" cmp <("$biogpu" kmer dump -c -L 2 plain.jf | awk '{print $1, $2 - 1}') out.txt
works kmer bc -m 21 -C -s 100k -o reads.bc reads.fq
works kmer count -q -m 21 -C -s 100k --bc reads.bc -o filtered.jf reads.fq
works kmer dump -c -L 2 filtered.jf
check "--bc keeps what is seen twice" cmp <("$biogpu" kmer dump -c -L 2 plain.jf) out.txt
fails 2 'no input' kmer count -m 4 -o bad.jf
fails 2 'no k-mer has such a count' kmer count -m 4 -L 3 -U 2 -o bad.jf t.fa
for command in "count -m 4 -o bad.jf.gz t.fa" "count -m 4 -o bad.bgk.gz t.fa" "bc -m 4 -s 1k -o bad.gz t.fa" \
  "merge -o bad.jf.gz plain.jf plain.jf" "set filter plain.jf -L 2 -o bad.kff.gz" "sketch -o bad.json.gz t.fa"; do
  # shellcheck disable=SC2086
  fails 2 'databases are not compressed' kmer $command
done
works kmer info plain.jf
check "the command line" out_has '^command: .*biogpu kmer count'
cp t.fa "it's.fa"
works kmer count -q -m 4 --size=2k --no-provenance -o words.jf "it's.fa"
works kmer info -c words.jf
check "info -c quotes words for the shell, as Jellyfish does" out_has " -m 4 '--size=2k' --no-provenance -o words.jf 'it'.''s.fa'\$"
fails 2 'give one of them' kmer count -m 4 --bf-size 1k --bc reads.bc -o bad.jf t.fa
fails 2 'give one of them' kmer count -m 4 --bf-size 1k --if t.fa -o bad.jf t.fa
fails 3 'expected k 22' kmer count -q -m 22 --bc reads.bc -o bad.jf t.fa
fails 3 'no Bloom counter' kmer count -q -m 21 --bc t.fa -o bad.jf t.fa
head -c -3 reads.bc >cut.bc
fails 3 'cut short' kmer count -q -m 21 -C --bc cut.bc -o bad.jf t.fa
printf 'cat t.fa\nexit 7\n' >commands.txt
fails 1 'status 7' kmer count -q -m 4 -g commands.txt -o bad.jf
fails 1 'none.txt' kmer count -q -m 4 -g none.txt -o bad.jf
check "no half-written database of a failed command" absent bad.jf

# Reads of SAM count as they were sequenced, and once.
{
  printf '@HD\tVN:1.6\n@SQ\tSN:c\tLN:1000\n'
  printf 'forward\t0\tc\t1\t60\t5M\t*\t0\t0\tAACCG\tIIIII\nreverse\t16\tc\t1\t60\t5M\t*\t0\t0\tAATTT\tIIIII\n'
  printf 'again\t256\tc\t1\t60\t5M\t*\t0\t0\tGGGTG\tIIIII\npart\t2048\tc\t1\t60\t5M\t*\t0\t0\tCTCTC\tIIIII\n'
  printf 'plain\t4\t*\t0\t0\t*\t*\t0\t0\tGAGAT\t*\n'
} >reads.sam
works kmer count -q -m 5 -Q 5 -o sam.bgk --sam reads.sam
works kmer dump -c sam.bgk
check "SAM: the strand sequenced, no secondary or supplementary record, no qualities" out_is 'AAATT 1\nAACCG 1\nGAGAT 1\n'

# A count that its bytes cannot hold: only binary .jf has such.
printf '>a\n%0300d\n' 0 | tr 0 A >many.fa
for line in "many.jf 255" "many.bgk 300" "many.kff 300" "many.txt 300 --text"; do
  read -ra words <<<"$line"
  works kmer count -q -m 1 --out-counter-len 1 -o "${words[0]}" "${words[@]:2}" many.fa
  works kmer dump -c "${words[0]}"
  check "--out-counter-len 1: ${words[0]}" out_is "A ${words[1]}\n"
done

# Nor can 64 bits hold these sums.
sed 's/A 300$/A 18446744073709551615/' many.txt >most.txt
for line in "merge" "set union"; do
  read -ra words <<<"$line"
  works kmer "${words[@]}" -o sum.bgk most.txt many.txt
  works kmer dump -c sum.bgk
  check "$line: a sum beyond 64 bits" out_is "A 18446744073709551615\n"
done

# Nothing to count is no failure.
: >empty.fa
works kmer count -q -m 21 -o empty.jf empty.fa
works kmer stats empty.jf
check "an empty database" out_is 'Unique:    0\nDistinct:  0\nTotal:     0\nMax_count: 0\n'
works kmer dump empty.jf
check "an empty dump" n_lines_is out.txt 0

# What is wrong is said in one line, and leaves nothing behind.
rm -f bad.jf
fails 1 'none.fa' kmer count -m 4 -o bad.jf none.fa
printf '@r\nACGT\n+\nIII\n' >bad.fq
fails 3 'record 1' kmer count -m 4 -o bad.jf bad.fq
check "no half-written database" absent bad.jf
printf '@a x\ry\nACGT\n+\nIIII\n' >bad.fq
gzip -k bad.fq
fails 3 'record 1 (line 1): a carriage return inside the header' kmer count -m 3 -o bad.jf bad.fq
fails 3 'record 1 (line 1): a carriage return inside the header' kmer count -m 3 -o bad.jf bad.fq.gz
fails 2 'mer-len' kmer count -o bad.jf t.fa
fails 2 'mer-len' kmer count -m 0 -o bad.jf t.fa
fails 2 'min-quality 60; expected 0 to 26' kmer count -m 3 --min-quality 60 --quality-start 100 -o bad.jf t.fa
fails 2 'min-quality 63; expected 0 to 62' kmer count -m 3 --min-quality 63 -o bad.jf t.fa
fails 2 'quality-start 127; expected 33 to 126' kmer count -m 3 --min-quality 0 --quality-start 127 -o bad.jf t.fa
fails 2 'quality-start 32; expected 33 to 126' kmer count -m 3 --min-quality 0 --quality-start 32 -o bad.jf t.fa
fails 2 'exclude each other' kmer count -m 3 --min-quality 5 -Q I -o bad.jf t.fa
fails 2 'exclude each other' kmer count -m 3 --quality-start 33 -Q I -o bad.jf t.fa
works kmer count -q -m 3 --min-quality 26 --quality-start 100 -o highest.jf t.fa
fails 2 '1G2' kmer count -m 4 -s 1G2 -o bad.jf t.fa
for number in -1 99999999999999999999 1k 08 0x ''; do
  for options in "count -m 4 -o bad.jf -L t.fa" "count -m 4 -o bad.jf -U t.fa" "dump -L t.jf" "dump -U t.jf" \
    "stats -L t.jf" "stats -U t.jf" "merge -o bad.jf -L t.jf" "merge -o bad.jf -U t.jf" "set filter -o bad.jf -L t.jf" \
    "set filter -o bad.jf -U t.jf" "histo -l t.jf" "histo -h t.jf" "histo -i t.jf"; do
    read -ra words <<<"$options"
    last=${words[-1]}
    unset 'words[-1]'
    fails 2 "'$number'; expected a whole number" kmer "${words[@]}" "$number" "$last"
  done
done
for options in "count -m 4 -s" "count -m 4 --bf-size" "bc -m 4 -s"; do
  for number in -1 99999999999999999999 20E; do
    # shellcheck disable=SC2086
    fails 2 "'$number'; expected a number" kmer $options $number -o bad.jf t.fa
  done
done
check "a number that is none leaves no database" absent bad.jf
works kmer stats -L 4 -U 18446744073709551615 t.jf
check "the largest number is taken" out_has '^Distinct:  1$'
fails 3 'no k-mer database' kmer histo t.fa
head -c -3 t.jf >cut.jf
fails 3 'cut short' kmer dump cut.jf
works kmer count -q -m 5 -o five.jf t.fa
fails 3 'expected one length' kmer merge -o bad.jf t.jf five.jf

# Other formats, sets, sketches, the spectrum.
for name in lambda.bgk lambda.kff; do
  works kmer count -q -m 21 -C -o $name "$source_dir/data/lambda.fa"
  works kmer dump -c $name
  cp out.txt $name.txt
done
check ".bgk and .kff hold the same, in the same order" same_files lambda.bgk.txt lambda.kff.txt
check "a .bgk file is in lexicographic order" bash -c 'LC_ALL=C sort -c lambda.bgk.txt'
works kmer query -s "$source_dir/data/lambda.fa" lambda.bgk
check "every k-mer of the genome is found" bash -c '! grep -q " 0$" out.txt'
works kmer info lambda.bgk
check "info of .bgk names the command" out_has 'kmer\|count'
works kmer count -q -m 21 -C -o reads.jf "$source_dir/data/lambda_reads.fq.gz"
works kmer set intersect reads.jf lambda.bgk -o both.bgk
works kmer set subtract reads.jf lambda.bgk -o errors.bgk
n_of() { "$biogpu" kmer stats "$1" | sed -n 's/^Distinct: *//p'; }
check "what is shared and what is not are the whole" \
  [ "$(($(n_of both.bgk) + $(n_of errors.bgk)))" -eq "$(n_of reads.jf)" ]
works kmer set filter reads.jf -L 2 -o solid.jf
check "a filter keeps what stats counts" \
  [ "$(n_of solid.jf)" -eq "$("$biogpu" kmer stats -L 2 reads.jf | sed -n 's/^Distinct: *//p')" ]
fails 3 'expected one length' kmer set union reads.jf five.jf -o bad.jf
# Every database is opened once: any of them may be a pipe.
for first in reads.jf lambda.bgk lambda.kff; do
  for format in jf bgk kff; do
    rm -f files.* pipes.* stdin.*
    works kmer merge -o files.$format $first reads.jf
    run kmer merge -o pipes.$format <(cat $first) <(cat reads.jf)
    check "$first, a pipe, and another merge to .$format" rc_is 0
    works kmer merge -o stdin.$format - reads.jf < <(cat $first)
    for name in files pipes stdin; do
      works kmer dump -c $name.$format
      cp out.txt $name.txt
    done
    check "$first: pipes merge to the same .$format" same_files files.txt pipes.txt
    check "$first: standard input merges to the same .$format" same_files files.txt stdin.txt
  done
  rm -f files.bgk stdin.bgk
  works kmer set filter $first -L 2 -o files.bgk
  works kmer set filter - -L 2 -o stdin.bgk < <(cat $first)
  check "$first: a filter reads standard input" cmp <("$biogpu" kmer dump -c files.bgk) <("$biogpu" kmer dump -c stdin.bgk)
done
works kmer histo --plot spectrum.svg reads.jf
check "the spectrum is an image" bash -c 'head -c 4 spectrum.svg | grep -q "<svg"'
works kmer sketch -o sketch.json "$source_dir/data/lambda.fa"
works kmer dist sketch.json "$source_dir/data/lambda.fa"
check "a file has distance 0 to itself" out_has '	0	0	1000/1000$'
{ printf '\357\273\277' && cat sketch.json; } >marked.json
works kmer dist marked.json sketch.json
check "a sketch behind a byte order mark" out_has '	0	0	1000/1000$'
if command -v kmc >/dev/null; then
  mkdir kmc_tmp
  kmc -k21 -ci1 -cs4294967295 -okff -fm "$source_dir/data/lambda.fa" kmc kmc_tmp >kmc.log 2>&1
  works kmer dump -c kmc.kff
  check "KMC's KFF is read" bash -c 'LC_ALL=C sort out.txt | cmp - lambda.kff.txt'
  kmc_tools -hp transform lambda.kff dump kmc.txt >kmc.log 2>&1
  check "KMC reads our KFF" bash -c 'tr "\t" " " <kmc.txt | LC_ALL=C sort | cmp - lambda.kff.txt'
fi
if command -v mash >/dev/null; then
  for options in "" "-k 15 -s 300"; do
    # shellcheck disable=SC2086
    mash dist $options "$source_dir/data/lambda.fa" "$source_dir/data/lambda_windows.fa" >expected.txt 2>/dev/null
    # shellcheck disable=SC2086
    works kmer dist $options "$source_dir/data/lambda.fa" "$source_dir/data/lambda_windows.fa"
    check "dist $options is Mash's" same_files out.txt expected.txt
  done
fi

if command -v jellyfish >/dev/null; then
  write_random 21 400 300 ACGTACGTACGTacgtN r >random.fa
  cat "$source_dir/data/lambda.fa" >>random.fa
  for k in 1 4 15 21 31 32 33 55 64 65 127; do
    for canonical in "" -C; do
      for bounds in "" "-L 2 -U 30"; do
        # shellcheck disable=SC2086
        jellyfish count -m $k -s 1M $canonical $bounds -o jf.jf random.fa reads.fq
        # shellcheck disable=SC2086
        works kmer count -q -m $k -s 1M $canonical $bounds -o our.jf random.fa reads.fq
        check "k=$k $canonical $bounds: the records are Jellyfish's" \
          cmp <(jellyfish info -s jf.jf) <(jellyfish info -s our.jf)
      done
    done
    for what in "dump" "dump -c -t -L 2" "histo" "histo -f -l 3 -h 20 -i 2" "stats" "stats -L 2" "info -s"; do
      # shellcheck disable=SC2046,SC2086
      jellyfish ${what%% *} jf.jf $(printf '%s' "$what" | cut -s -d' ' -f2-) >expected.txt
      # shellcheck disable=SC2086
      works kmer $what jf.jf
      check "k=$k: '$what' of Jellyfish's file" same_files out.txt expected.txt
      # shellcheck disable=SC2046,SC2086
      jellyfish ${what%% *} our.jf $(printf '%s' "$what" | cut -s -d' ' -f2-) >of_ours.txt
      check "k=$k: Jellyfish's '$what' of our file" same_files of_ours.txt expected.txt
    done
    jellyfish query -s reads.fq jf.jf >expected.txt
    works kmer query -t 2 -s reads.fq jf.jf
    check "k=$k: query of reads" same_files out.txt expected.txt
    jellyfish count -m $k -s 1M -C -L 2 -U 30 -o other.jf reads.fq
    for operation in "" -m -M; do
      # shellcheck disable=SC2086
      jellyfish merge $operation -o expected.jf jf.jf other.jf
      # shellcheck disable=SC2086
      works kmer merge $operation -o got.jf jf.jf other.jf
      check "k=$k: merge $operation" cmp <(jellyfish info -s expected.jf) <(jellyfish info -s got.jf)
    done
    jellyfish merge -j -o expected.txt jf.jf other.jf
    works kmer merge -j -o got.txt jf.jf other.jf
    check "k=$k: merge -j" same_files expected.txt got.txt
  done
  for k in 4 21 33; do
    for canonical in "" -C; do
      # shellcheck disable=SC2086
      jellyfish count -m $k -s 1M $canonical --if random.fa -p 62 -o jf.jf reads.fq
      # shellcheck disable=SC2086
      works kmer count -q -m $k -s 1M $canonical --if random.fa -p 62 -o our.jf reads.fq
      check "k=$k $canonical: --if" cmp <(jellyfish info -s jf.jf) <(jellyfish info -s our.jf)
      # shellcheck disable=SC2086
      jellyfish bc -m $k -s 30k $canonical -o jf.bc reads.fq
      # shellcheck disable=SC2086
      works kmer bc -m $k -s 30k $canonical -t 2 -o our.bc reads.fq
      n=$(stat -c %s jf.bc)
      n=$((n - 9 - 10#$(head -c 9 jf.bc)))
      check "k=$k $canonical: the counters of bc" cmp <(tail -c $n jf.bc) <(tail -c $n our.bc)
      for bc in jf.bc our.bc; do
        # shellcheck disable=SC2086
        jellyfish count -m $k -s 1M $canonical --bc $bc -o jf.jf reads.fq
        # shellcheck disable=SC2086
        works kmer count -q -m $k -s 1M $canonical --bc $bc -o our.jf reads.fq
        check "k=$k $canonical: --bc $bc" cmp <(jellyfish info -s jf.jf) <(jellyfish info -s our.jf)
      done
    done
  done
  for options in "-m 10 -s 1M" "-m 10 -s 2M" "-m 12 -s 10M" "-m 13 -s 40M" "-m 13 -s 30M" "-m 13 -s 70M"; do
    # shellcheck disable=SC2086
    jellyfish count $options -o jf.jf reads.fq
    # shellcheck disable=SC2086
    works kmer count -q $options -o our.jf reads.fq
    check "$options: the records" cmp <(jellyfish info -s jf.jf) <(jellyfish info -s our.jf)
    check "$options: Jellyfish merges its file and ours" jellyfish merge -o both.jf jf.jf our.jf
    check "$options: every count is twice the one of ours" \
      cmp <(jellyfish dump -c both.jf | awk '{print $1, $2 / 2}') <(jellyfish dump -c our.jf)
  done
  check "-p reaches the header" bash -c "jellyfish count -m 21 -s 1M -p 200 -o jf.jf reads.fq; '$biogpu' kmer count -q -m 21 -s 1M -p 200 -o our.jf reads.fq; [ \"\$(jellyfish info -j jf.jf | grep max_reprobe)\" = \"\$(jellyfish info -j our.jf | grep max_reprobe)\" ]"
  jellyfish count -m 21 -C -s 1M -o jf.jf reads.fq
  jellyfish info -j jf.jf >expected.txt
  works kmer info -j jf.jf
  check "info -j" same_files out.txt expected.txt
  jellyfish count -m 21 -C -s 1M -Q F -o jf.jf reads.fq
  works kmer count -q -m 21 -C -s 1M -Q F -o our.jf reads.fq
  check "-Q" cmp <(jellyfish info -s jf.jf) <(jellyfish info -s our.jf)
  jellyfish count -m 21 -C -s 1M --text -o jf.txt reads.fq
  works kmer count -q -m 21 -C -s 1M --text -o our.txt reads.fq
  check "--text" cmp <(sed 's/^[^}]*}[^}]*}//' jf.txt | tr -d '\0') <(sed 's/^[^}]*}[^}]*}//' our.txt | tr -d '\0')
  works kmer stats jf.txt
else
  echo "jellyfish is not installed: compared with fixed texts only"
fi

finish
