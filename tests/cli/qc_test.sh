#!/usr/bin/env bash
# `biogpu qc` on small simulated input: the same bytes however it is run, bad input, usage. Where
# fastp is installed, its reads and JSON too.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# write_pairs SEED N MATE: N reads of 100 bases, of mate 1 or 2, from fragments of 20 to 250 bases.
# Own generator, so that every awk writes the same.
write_pairs() {
  awk -v state="$1" -v n="$2" -v mate="$3" '
    function draw(limit) {
      state = state * 16807 % 2147483647
      return int(state / 256) % limit
    }
    BEGIN {
      for (i = 0; i < n; ++i) {
        size = 20 + draw(231)
        fragment = ""
        for (j = 0; j < size; ++j) fragment = fragment substr("ACGT", 1 + draw(4), 1)
        tail = ""
        for (j = 0; j < 100; ++j) tail = tail substr("ACGT", 1 + draw(4), 1)
        if (draw(10) == 0) { gsub(/[ACT]/, "G", tail) }
        quality = ""
        low = draw(4) == 0
        for (j = 0; j < 100; ++j)
          quality = quality substr("#+5?DI", 1 + (low ? draw(6) : 2 + draw(4)), 1)
        holes = draw(8) == 0
        adapter = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"
        if (mate == 2) {
          adapter = "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT"
          other = ""
          for (j = length(fragment); j > 0; --j)
            other = other substr("TGCA", index("ACGT", substr(fragment, j, 1)), 1)
          fragment = other
        }
        read = substr(fragment adapter tail, 1, 100)
        if (holes) read = substr(read, 1, 40) "NNNNNNN" substr(read, 48)
        printf "@R%d:1:2 %d:N:0:ACGT+TTGG\n%s\n+\n%s\n", i, mate, read, quality
      }
    }'
}
write_pairs 7 2000 1 >r1.fq
write_pairs 7 2000 2 >r2.fq

# shellcheck disable=SC2317  # called through check
json_has() { python3 -c "
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2].split('/'): value = value[key]
sys.exit(str(value) != sys.argv[3])" "$@"; }

works qc -i r1.fq -I r2.fq -o o1.fq -O o2.fq
check "the JSON has its default name" exists fastp.json
check "the HTML has its default name" exists fastp.html
check "all reads are counted" json_has fastp.json summary/before_filtering/total_reads 4000
check "fastp's lines are on stderr" err_has "reads passed filter: "
check "the page loads nothing" bash -c '! grep -q "<script src\|<link" fastp.html'
cp fastp.json base.json

# Remarks: windows that no option uses, outputs that --include_unmerged takes away.
for words in "-W 5" "-M 25" "--cut_tail_window_size 4" "--cut_right_mean_quality 20"; do
  # shellcheck disable=SC2086
  works qc -i r1.fq -o w1.fq -j window.json -h window.html $words
  check "$words alone cuts nothing and says so" err_has "^WARNING: .*cut_front/cut_tail/cut_right. This will have no effect"
  # shellcheck disable=SC2086
  works qc -i r1.fq -o w1.fq -j window.json -h window.html $words -3
  check "$words with -3 says nothing" bash -c '! grep -q "^WARNING" err.txt'
done
works qc -i r1.fq -I r2.fq -m --merged_out wm.fq --include_unmerged -o w1.fq -O w2.fq --unpaired2 wu2.fq -j m.json -h m.html
check "what is ignored is named" err_has "Ignoring argument --out1 = w1.fq"
check "each by its option" err_has "Ignoring argument --unpaired2 = wu2.fq"

# The same bytes for every number of threads and batch size; -w also chooses fastp's numbers.
for options in "--batch 1000" "--batch 3000 --device cpu"; do
  # shellcheck disable=SC2086
  works qc -i r1.fq -I r2.fq -o t1.fq -O t2.fq $options
  check "reads 1 equal with $options" same_files o1.fq t1.fq
  check "reads 2 equal with $options" same_files o2.fq t2.fq
  check "JSON equal with $options" bash -c 'diff <(grep -v "\"command\"" base.json) <(grep -v "\"command\"" fastp.json)'
done
works qc -i r1.fq -I r2.fq -o t1.fq -O t2.fq -w 1
check "reads do not depend on -w" same_files o1.fq t1.fq
for form in "" "--bgzf" "-m --merged_out m.fq.gz" "-S 1000 -w 2" "-f 5 --failed_out f.fq.gz"; do
  rm -rf packed
  for options in "-w 1" "-w 4" "--batch 1000" "--batch 2000 -w 2" "--batch 9000 -w 3"; do
    mkdir now
    # shellcheck disable=SC2086
    (cd now && "$biogpu" qc --quiet -i ../r1.fq -I ../r2.fq -o o1.fq.gz -O o2.fq.gz $options $form) ||
      check "$form $options" false
    rm now/fastp.json now/fastp.html
    if [ -e packed ]; then
      check "compressed bytes of '$form' with $options" diff -r packed now
      rm -r now
    else
      mv now packed
      check "compressed bytes are there" [ -s packed/o1.fq.gz -o -s packed/0001.o1.fq.gz ]
    fi
  done
done

# The emulated GPU writes the same; so does the CPU in its place where it has no kernels.
if [ "$backend" = emulated ]; then
  printf '>a\nAGATCGGAAGAGCACACG\n>b\nGATCGGAAG\n>c\nGGGGGGGG\n' >listed.fa
  for options in "" "-c -5 -3 -g -x -y --failed_out f.fq" "-D -r" "-m --merged_out m.fq" "-A -p" \
    "--profile fastp-0.23 -c -5 -x" "--adapter_fasta listed.fa -a AGATCGGAAGAGCGTCGTG" "--allow_gap_overlap_trimming --dimer_max_len 25"; do
    for device in cpu gpu; do
      # shellcheck disable=SC2086
      works qc -i r1.fq -I r2.fq -o "$device.1.fq" -O "$device.2.fq" -j $device.json -w 2 \
        --reads_to_process 700 --batch 1000 --verbose --device $device $options
      check "the steps of $device ran for '$options'" \
        [ "$(grep -c 'device: 700 records' err.txt)" = "$([ $device = gpu ] && [[ $options != -m* ]] && echo 1 || echo 0)" ]
    done
    check "reads 1 of the GPU with '$options'" same_files cpu.1.fq gpu.1.fq
    check "reads 2 of the GPU with '$options'" same_files cpu.2.fq gpu.2.fq
    check "JSON of the GPU with '$options'" \
      bash -c 'diff <(grep -v "\"command\"" cpu.json) <(grep -v "\"command\"" gpu.json)'
  done
elif [ "$backend" = none ]; then
  fails 4 "this build has no GPU backend" qc -i r1.fq -o x.fq --device gpu
fi

# gzip in and out, by content and by name.
gzip -kc r1.fq >r1.renamed
gzip -k r2.fq
works qc -i r1.renamed -I r2.fq.gz -o z1.fq.gz -O z2.fq.gz -w 3
gzip -t z1.fq.gz z2.fq.gz || exit 1
check "gzip changes nothing" bash -c 'gzip -dc z2.fq.gz | cmp - o2.fq'
works qc -i r1.fq -I r2.fq -o b1.fq.gz -O b2.fq.gz --bgzf
check "BGZF holds the same" bash -c 'gzip -dc b1.fq.gz | cmp - o1.fq'

# Interleaved, standard input and output.
paste -d '\n' <(paste - - - - <r1.fq) <(paste - - - - <r2.fq) | tr '\t' '\n' >both.fq
works qc -i both.fq --interleaved_in -o i1.fq -O i2.fq
check "interleaved input gives the same" same_files i1.fq o1.fq
# shellcheck disable=SC2034  # check() shows it
last_command="qc --stdin --stdout"
"$biogpu" qc --stdin --interleaved_in --stdout <both.fq >out.txt 2>err.txt
rc=$?
check "pipes work" rc_is 0
paste -d '\n' <(paste - - - - <o1.fq) <(paste - - - - <o2.fq) | tr '\t' '\n' >expected.fq
check "standard output is interleaved" same_files out.txt expected.fq

# What goes to standard output goes to the files too; but not interleaved pairs, as in fastp 0.23.
# streamed ARGUMENTS...: a run that writes reads to standard output, out.txt.
streamed() {
  works qc --profile fastp-0.23 -i r1.fq --quiet --stdout "$@"
}
works qc --profile fastp-0.23 -i r1.fq -o single.fq
for w in 1 8; do
  streamed -o s.fq -w $w
  check "-w $w: standard output has the reads" same_files single.fq out.txt
  check "-w $w: --out1 has them too" same_files single.fq s.fq
done
streamed -o s.fq.gz
check "standard output is plain" same_files single.fq out.txt
check "--out1 is compressed" bash -c 'gzip -dc s.fq.gz | cmp - single.fq'
works qc --profile fastp-0.23 -i r1.fq -I r2.fq -m --merged_out merged.fq -o un1.fq -O un2.fq
streamed -I r2.fq -m --merged_out m.fq -o u1.fq -O u2.fq -w 8
check "standard output has the merged reads" same_files merged.fq out.txt
check "--merged_out has them too" same_files merged.fq m.fq
check "--out2 has the others" same_files un2.fq u2.fq
works qc --profile fastp-0.23 -i r1.fq -I r2.fq -o old1.fq -O old2.fq
paste -d '\n' <(paste - - - - <old1.fq) <(paste - - - - <old2.fq) | tr '\t' '\n' >expected.fq
streamed -I r2.fq -o p1.fq -O p2.fq
check "pairs on standard output" same_files expected.fq out.txt
check "--out1 is there, and empty" n_lines_is p1.fq 0
check "--out2 is there, and empty" n_lines_is p2.fq 0
works qc -i r1.fq -I r2.fq -m --merged_out m.fq -O lonely.fq
check "merging: --out2 without --out1 is not made" absent lonely.fq

# Bad input: one line, exit 3, nothing under a final name.
head -7 r1.fq >cut.fq
rm -f x.fq fastp.json
fails 3 "cut.fq: record 2 (line 7)" qc -i cut.fq -o x.fq
check "no output of a failed run" absent x.fq
check "no report of a failed run" absent fastp.json
printf '@a\nACGT\n+\nII\n' >short.fq
fails 3 "quality has 2 symbols, sequence has 4" qc -i short.fq -o x.fq
printf '@a\nACGT\nIIII\n@b\n' >plus.fq
fails 3 "expected '+'" qc -i plus.fq -o x.fq
head -400 r2.fq >fewer.fq
fails 3 "fewer.fq: ends after record 100" qc -i r1.fq -I fewer.fq -o x.fq -O y.fq
head -c 3000 r2.fq.gz >broken.fq.gz
fails 3 "cut short" qc -i broken.fq.gz -o x.fq
works qc -i r1.fq -I fewer.fq -o x.fq -O y.fq --lenient
check "lenient goes on with what there is" err_has "different read numbers"
: >empty.fq
works qc -i empty.fq -o x.fq
check "percentages of no bases are 0" err_has '^Q20 bases: 0(0%)$'
# Nor is any other number of no reads: none in the file, plain, compressed and paired, and none after filtering.
cp empty.fq empty2.fq && gzip -k empty.fq
head -40 r1.fq >few.fq
cp few.fq few2.fq
while read -r -a options; do
  for profile in fastp-0.23 fastp-1; do
    works qc --profile $profile "${options[@]}" -j none.json -h none.html
    check "$profile ${options[*]}: no nan" python3 - <<'P'
import json, re
page = re.sub(r"<script.*?</script>", "", open("none.html", encoding="utf-8").read(), flags=re.DOTALL)  # the library of charts
def refuse(text): raise SystemExit(f"none.json: {text}")
json.load(open("none.json", encoding="utf-8"), parse_constant=refuse)
for name, text in (("none.html", page), ("err.txt", open("err.txt", encoding="utf-8").read())):
    found = re.search(r"(?i)\b-?(nan|inf)\b.*", text)
    if found: raise SystemExit(f"{name}: {found.group()}")
P
  done
done <<'OPTIONS'
-i empty.fq -o x.fq
-i empty.fq.gz -o x.fq.gz -p
-i empty.fq -I empty2.fq -o x.fq -O x2.fq
-i empty.fq -I empty2.fq -m --merged_out x.fq
-i few.fq -o x.fq -l 10000 -p
-i few.fq -I few2.fq -o x.fq -O x2.fq -l 10000
-i few.fq -I few2.fq -m --merged_out x.fq -l 10000
OPTIONS
# A last read without bases, its empty fourth line without an end: as fastp, seqkit and `kmer` take it.
for end in '@last\n\n+' '@last\n\n+\n' '@last\r\n\r\n+\r\n'; do
  # shellcheck disable=SC2059
  { head -8 r1.fq; printf "$end"; } >last1.fq
  # shellcheck disable=SC2059
  { head -8 r2.fq; printf "$end"; } >last2.fq
  works qc -i last1.fq -I last2.fq -o x.fq -O y.fq
  check "three pairs with $end" json_has fastp.json summary/before_filtering/total_reads 6
  works qc -i last2.fq -o x.fq --failed_out f.fq
  check "no bases with $end" [ "$(tail -4 f.fq | tr '\n' ,)" = "@last failed_too_short,,+,," ]
done
# A gzip file may hold gigabytes in kilobytes: lines have a bound, and what is between records is not kept.
head -c 8M /dev/zero | tr '\0' A | gzip -1 >piece.gz
for _ in $(seq 80); do cat piece.gz; done >line.gz
head -c 8M /dev/zero | tr '\0' '\n' | gzip -1 >piece.gz
for _ in $(seq 80); do cat piece.gz; done >empty_lines.gz
address_space=$(ulimit -Sv)
is_sanitized || ulimit -Sv 1000000
fails 3 "line.gz: record 1 (line 1): the line is longer than 16 MiB" qc -w 1 -i line.gz -o x.fq.gz
works qc -w 1 -i empty_lines.gz -o x.fq.gz
ulimit -Sv "$address_space"
check "an empty file gives a report of zeros" json_has fastp.json summary/before_filtering/total_reads 0

# Usage.
fails 2 "no input" qc -o x.fq
fails 2 "exclude each other" qc -i r1.fq -g -G
fails 2 "needs --out2" qc -i r1.fq -I r2.fq -o x.fq

# No output is an input or another output, whatever it is called.
cp r1.fq kept.fq
ln -s r1.fq link.fq
printf '>a\nACGTACGTAC\n' >adapters.fa
printf 'ACGT\n' >index.txt
cp r1.fq 0003.x.fq
for name in adapters index; do cp "$name".* $name; done  # names of outputs of any format
cp r1.fq r1
# clash FIRST SECOND ARGUMENTS...: the run is refused, and names these two options.
clash() {
  local first=$1 second=$2
  shift 2
  fails 2 "$first and $second name the same file" qc "$@"
}
for name in r1.fq ./r1.fq link.fq; do clash --in1 --out1 -i r1.fq -o $name; done
clash --in1 --out1 -i link.fq -o r1.fq
clash --in2 --out1 -i r1.fq -I r2.fq -o r2.fq -O y.fq
clash --in1 --json -i r1 -j r1
clash --in1 --html -i r1 -h ./r1
clash --in1 --part -i r1 --part r1
clash --adapter_fasta --out1 -i r1.fq --adapter_fasta adapters -o adapters
clash --filter_by_index1 --out1 -i r1.fq --filter_by_index1 index -o index
clash --out1 --out2 -i r1.fq -I r2.fq -o x.fq -O ./x.fq
clash --out1 --json -i r1.fq -o x -j x
clash --out1 --part -i r1.fq -o x --part ./x
clash --json --html -i r1.fq -j q -h ./q
fails 2 "both go to standard output" qc -i r1.fq -o - -j -
fails 2 "both go to standard output" qc -i r1.fq --stdout -j /dev/stdout
printf '\x28\xb5\x2f\xfd....' >x.zst
fails 3 "x.zst: is compressed with zstd" qc -i x.zst -o never.fq
clash --failed_out --json -i r1.fq --failed_out f -j f
clash --unpaired1 --unpaired2 -i r1.fq -I r2.fq --unpaired1 u.fq --unpaired2 ./u.fq
clash --in1 --out1 -i 0003.x.fq -o x.fq -s 3
clash --json --out1 -i r1.fq -o x -j ./0001.x -s 3
mkdir parts
for part in 0002.y.fq 0003.y.fq; do
  ln -s ../r1.fq parts/$part
  for split in "-s 3" "-S 1000"; do
    # shellcheck disable=SC2086
    clash --in1 --out1 -i r1.fq -o parts/y.fq $split
  done
  rm parts/$part
done
ln r1.fq parts/0002.y.fq
clash --in1 --out1 -i r1.fq -o parts/y.fq -s 3
rm parts/0002.y.fq
ln -s ../r1.fq parts/0004.y.fq
ln -s ../r1.fq parts/00002.y.fq
works qc -i r1.fq -o parts/y.fq -s 3
rm -r parts
clash --out1 --out2 -i r1.fq -I r2.fq -o x.fq -O x.fq -s 3
check "the input is as it was" same_files r1.fq kept.fq
works qc -i 0003.x.fq -o x.fq -s 2
works qc -i 0003.x.fq -o 0003.x.fq -s 2
check "an input is not a part" same_files 0003.x.fq kept.fq
works qc -i r1.fq -I r2.fq -o /dev/null -O /dev/null -j /dev/null -h /dev/null
works qc -i r1.fq -I r2.fq --unpaired1 u.fq --unpaired2 u.fq
fails 2 "expected 0 to 93" qc -i r1.fq -q 120
fails 1 "o1.fq: exists already" qc -i r1.fq -o o1.fq -j new.json -h new.html --dont_overwrite
fails 1 "kept.fq: exists already" qc -i r1.fq --part kept.fq -j new.json -h new.html --dont_overwrite

# Values that fastp refuses; none of them means "not given".
refuses() {
  local text=$1
  shift
  fails 2 "$text" qc -i r1.fq -I r2.fq "$@"
}
refuses "--trim_front is -1; expected 0 to 2147483647" -F -1
refuses "--trim_tail is -7; expected 0 to 2147483647" -T -7
refuses "--trim_front is 31; expected 0 to 30" -f 31 --profile fastp-0.23
refuses "--trim_tail is 101; expected 0 to 100" -T 101 --profile fastp-0.23
works qc -i r1.fq -o t1.fq -f 2147483647 -t 2147483647 -A
check "nothing is left" n_lines_is t1.fq 0
for cut in front tail right; do
  refuses "--cut_window_size is -5; expected 1 to 1000" --cut_$cut --cut_${cut}_window_size -5
  refuses "--cut_mean_quality is -5; expected 1 to 30" --cut_$cut --cut_${cut}_mean_quality -5
done
for n in -3 0 1 1000; do refuses "--split is $n; expected 2 to 999" -o x.fq -O y.fq -s $n; done
for n in -8 0 8 1002; do refuses "--split_by_lines is $n; expected a multiple of 4 from 1000" -S $n; done
refuses "'1000000000000000000000'; expected a whole number" -S 1000000000000000000000
refuses "expected a multiple of 4 from 1000 to 9223372036854775804" -S 9223372036854775807
refuses "exclude each other" -s -3 -S 1000
refuses "--reads_to_process is -5; expected 0" --reads_to_process -5
refuses "--overlap_diff_limit is -1; expected 0" --overlap_diff_limit -1
works qc -i r1.fq -I r2.fq -o t1.fq -O t2.fq -b 50 -B -5
check "a longest read below 1 is none" grep -qx "[ACGTN]\{51,\}" t2.fq
fails 1 "nofile: cannot be opened" qc -i nofile
# Lists that cannot be read are no empty lists. /proc/self/mem gives EIO.
mkdir folder
for option in --adapter_fasta --filter_by_index1 --filter_by_index2; do
  rm -f never.fq
  fails 1 "folder: is a folder" qc -i r1.fq -o never.fq $option folder
  fails 1 "nofile: cannot be opened" qc -i r1.fq -o never.fq $option nofile
  fails 1 "/proc/self/mem: cannot be read" qc -i r1.fq -o never.fq $option /proc/self/mem
  check "no reads that were not trimmed" absent never.fq
done
{ printf 'ACGT\n'; head -c 100000 /dev/zero | tr '\0' x; } >long.txt
fails 3 "long.txt: line 2: 'xxx.*(100000 bytes) is no barcode" qc -i r1.fq -o never.fq --filter_by_index1 long.txt
fails 2 "is 'xxx.*(100000 bytes); expected only" qc -i r1.fq -o never.fq -a "$(tail -1 long.txt)"
check "a short line" [ "$(wc -c <err.txt)" -lt 300 ]
check "a file that is not there is not standard input" bash -c '! grep -q STDIN err.txt'
works qc --help
check "--help shows examples" out_has "biogpu qc -i"

# Splitting.
works qc -i r1.fq -o part.fq -s 4 -w 2
"$biogpu" qc -i r1.fq --stdout 2>err.txt | sort >whole.txt
sort 000[1-4].part.fq >parts.txt
check "parts hold all reads" same_files whole.txt parts.txt

# As many parts as fastp writes, with fewer descriptors than parts; most of them stay empty.
head -36 r1.fq >nine1.fq
head -36 r2.fq >nine2.fq
descriptors=$(ulimit -Sn)
ulimit -Sn 100
mkdir parts
works qc -i nine1.fq -o parts/x.fq -s 999 -A -Q -L
check "a file for each part" [ "$(find parts -name '*.x.fq' | wc -l)" -eq 999 ]
check "they hold all reads" bash -c 'sort parts/*.x.fq | cmp - <(sort nine1.fq)'
works qc -i r1.fq -I r2.fq -o parts/y1.fq.gz -O parts/y2.fq.gz -s 999 -w 8
check "two files for each part" [ "$(find parts -name '*.y[12].fq.gz' | wc -l)" -eq 1998 ]
check "they hold what passes" bash -c 'gzip -dc parts/*.y2.fq.gz | sort | cmp - <(sort o2.fq)'
works qc -i nine1.fq -I nine2.fq -o parts/z1.fq -O parts/z2.fq -S 1000 -w 2
check "parts of so many lines: one for each worker" [ "$(find parts -name '*.z[12].fq' | wc -l)" -eq 4 ]
ulimit -Sn "$descriptors"

if command -v fastp >/dev/null && fastp --version 2>&1 | grep -q '0\.23\.2$\|1\.3\.[67]$'; then
  check "fastp writes the same" python3 "$source_dir/scripts/compare/fastp_options.py" "$biogpu" \
    --pairs 1500 --only "simulated pe -c -5 -3 -g -x"
fi
finish
