#!/usr/bin/env bash
# `biogpu qc`: what fastp 1.3.7, whose results are the default, does in another way than 0.23.2; and the warnings of
# qc. Random comparisons with the program itself: scripts/compare/random fastp1.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2317  # called through check
json_is() { # FILE EXPRESSION: true of the report j
  python3 -c "import json, sys; j = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1"
}
# write_reads FILE ADAPTER ONE_IN N: reads of 90 bases, each so many-th with an insert of 12 to 41 bases before the adapter.
write_reads() {
  python3 - "$@" <<'P'
import random, sys
r = random.Random(41)
adapter, one_in = sys.argv[2], int(sys.argv[3])
with open(sys.argv[1], "w") as to:
    for i in range(int(sys.argv[4])):
        text = "".join(r.choices("ACGT", k=90))
        if i % one_in == 0: text = (text[:12 + i % 30] + adapter + text)[:90]
        to.write(f"@M7:{i} 1:N:0:ACGT\n{text}\n+\n{'H' * 90}\n")
P
}
quiet=(-j q.json -h q.html)

# A detected adapter of 63 bases is named, and not used; fastp 0.23 takes its beginning for another.
long=TGGAATTCTCGGGTGCCAAGGAACTCCAGTCACTTAGGCATCTCGTATGCCGTCTTCTGCTTG
write_reads long.fq $long 8 11000
works qc --profile fastp-1 -i long.fq -o o.fq "${quiet[@]}"
# shellcheck disable=SC2016  # the inner shell expands
check "its name, itself, and that there is none" bash -c 'sed -n 2p err.txt | grep -q "^>" && [ "$(sed -n 3p err.txt | tr -d "\n" | wc -c)" -gt 60 ] &&
  [ "$(sed -n 4,5p err.txt)" = "No adapter detected for read1" ]'
check "nothing is cut" json_is q.json '"adapter_cutting" not in j'
write_reads short.fq AGATCGGAAGAGCACACGTCTGAACTCCAGTCA 8 11000
for profile in fastp-0.23 fastp-1; do
  works qc --profile $profile -i short.fq -o o.fq "${quiet[@]}"
  check "$profile: the name of a short one" err_has '^>Illumina TruSeq Adapter Read 1$'
  check "$profile: it is cut" json_is q.json 'j["adapter_cutting"]["adapter_trimmed_reads"] >= 1375'
done
check "Q40 in the log" err_has '^Q40 bases: 0(0%)$'
check "the line of dimers" err_has '^reads failed due to adapter dimer: 0$'
check "the row of dimers" grep -q '<td>reads with adapter dimer</td>' q.html
check "the row of Q40" grep -q '<td>Q40 bases</td>' q.html
check "the adapter with its name, and how many were trimmed" bash -c 'grep -q "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA (Illumina TruSeq Adapter Read 1)" q.html &&
  grep -q "<td>reads trimmed</td><td>1,[0-9]* (1[0-9].[0-9] %)" q.html'
works qc -i short.fq -o default.fq "${quiet[@]}"
check "the default" same_files o.fq default.fq
check "its version" json_is q.json 'j["summary"]["fastp_version"] == "1.3.7"'
works qc --profile fastp-0.23 -i short.fq -o o.fq "${quiet[@]}"
check "the other's version" json_is q.json 'j["summary"]["fastp_version"] == "0.23.2"'
check "the other has neither row" bash -c '! grep -q "Q40 bases\|adapter dimer" q.html'
works qc --profile fastp-1 -A -i short.fq -o o.fq "${quiet[@]}"
check "none where adapters stay" bash -c '! grep -q dimer err.txt'
works qc --profile fastp-1 -A -i short.fq -o o.fq "${quiet[@]}" -W 5
check "fastp 1's spelling" err_has 'but forgot to enable'

# At most 20,001 texts a worker are counted: those that come first.
write_reads many.fq GATTACAGATTACACCAGGT 1 20600
many=(qc --quiet --profile fastp-1 -i many.fq -a GATTACAGATTACACCAGGT)
for workers in 1 2 3; do
  works "${many[@]}" -w $workers -o o.fq -j $workers.json -h q.html
  check "$workers: all are cut" json_is $workers.json 'j["adapter_cutting"]["adapter_trimmed_reads"] == 20600'
done
check "one worker" json_is 1.json 'sum(j["adapter_cutting"]["read1_adapter_counts"].values()) == 20001'
check "two workers count all" json_is 2.json 'sum(j["adapter_cutting"]["read1_adapter_counts"].values()) == 20600'
for i in 1 2; do
  works "${many[@]}" -w 1 -o $i.fq -j p.json -h p.html --shard $i/2 --part $i.part
done
works qc-merge -j m.json -h m.html 1.part 2.part
check "merged parts count as one run" bash -c 'diff <(grep -v command 1.json) <(grep -v command m.json)'
works qc --quiet --profile fastp-0.23 -i many.fq -a GATTACAGATTACACCAGGT -w 1 -o o.fq -j old.json -h q.html
check "fastp 0.23 counts all" json_is old.json 'sum(j["adapter_cutting"]["read1_adapter_counts"].values()) == 20600'

# A read that is left with 2 bases or fewer behind an adapter is a dimer; of pairs both mates.
printf '@d\nAC%s\n+\n%s\n@e\nACGTA%s\n+\n%s\n' AGATCGGAAGAGCACACGTCTGAACTCCAGTCA "$(printf 'H%.0s' {1..35})" \
  AGATCGGAAGAGCACACGTCTGAACTCCAGTCA "$(printf 'H%.0s' {1..38})" >dimers.fq
dimer=(qc --quiet -a AGATCGGAAGAGCACACGTCTGAACTCCAGTCA -i dimers.fq -o o.fq "${quiet[@]}" --failed_out f.fq)
works "${dimer[@]}"
check "a dimer" json_is q.json 'j["filtering_result"]["adapter_dimer_reads"] == 1 and j["filtering_result"]["too_short_reads"] == 1'
check "its tag" grep -q '^@d failed_adapter_dimer$' f.fq
works "${dimer[@]}" --dimer_max_len 5
check "two dimers" json_is q.json 'j["filtering_result"]["adapter_dimer_reads"] == 2'
works "${dimer[@]}" --profile fastp-0.23
check "no dimers" json_is q.json '"adapter_dimer_reads" not in j["filtering_result"] and j["filtering_result"]["too_short_reads"] == 2'

# Options of fastp 1 alone.
printf '@r:7 1:N:0:AC\nGATTACATTGACCAGTTGACCATTGACC\n+\nHHHHHHHHHHHHHHHHHHHHHHHHHHHH\n' >umi.fq
umi=(qc --quiet -A -i umi.fq -o o.fq "${quiet[@]}" -U --umi_loc read1 --umi_len 6)
works "${umi[@]}" --umi_delim ..
check "--umi_delim" [ "$(head -1 o.fq)" = '@r:7..GATTAC 1:N:0:AC' ]
works "${umi[@]}" --umi_prefix X --umi-delim '#'
check "with a prefix" [ "$(head -1 o.fq)" = '@r:7#X_GATTAC 1:N:0:AC' ]
works "${umi[@]}"
check "by default" [ "$(head -1 o.fq)" = '@r:7:GATTAC 1:N:0:AC' ]
for words in "--umi_delim _" "--dimer_max_len 3" "--allow_gap_overlap_trimming"; do
  # shellcheck disable=SC2086
  fails 2 '--allow_gap_overlap_trimming do not go with --profile fastp-0.23' "${umi[@]}" --profile fastp-0.23 $words
done
fails 2 'expected no control characters' "${umi[@]}" --profile fastp-1 --umi_delim $'\n'
# Mates whose overlap of 40 bases lacks one just before its end: only with a gap the adapters behind it are seen.
python3 - <<'P'
import random
r = random.Random(9)
insert, tail = "".join(r.choices("ACGT", k=38)) + "GT", "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"
other = insert.translate(str.maketrans("ACGT", "TGCA"))[::-1]
for name, text in (("g1.fq", insert[:38] + insert[39:]), ("g2.fq", other)):
    text = (text + tail)[:70]
    open(name, "w").write(f"@g\n{text}\n+\n{'H' * len(text)}\n")
P
gap=(qc --quiet -i g1.fq -I g2.fq -o o1.fq -O o2.fq "${quiet[@]}" --overlap_diff_limit 0)
devices=(cpu)
[ "$backend" != emulated ] || devices+=(gpu)
for device in "${devices[@]}"; do
  works "${gap[@]}" --device "$device"
  check "$device: no overlap without a gap" [ "$(sed -n 2p o2.fq | tr -d '\n' | wc -c)" -eq 70 ]
  works "${gap[@]}" --device "$device" --allow_gap_overlap_trimming
  check "$device: an overlap with a gap" [ "$(sed -n 2p o2.fq | tr -d '\n' | wc -c)" -eq 40 ]
done
works qc -2 -i short.fq -I many.fq -o o1.fq -O o2.fq "${quiet[@]}" --lenient
check "-2 detects adapters of mates" err_has 'Detecting adapter sequence for read2'
works qc --profile fastp-1 -A -i umi.fq --stdout -o ignored.fq "${quiet[@]}"
check "--stdout ignores -o" absent ignored.fq
check "and says so" err_has '^In STDOUT mode, ignore the out1 filename ignored.fq$'

# A byte order mark is no part of the first name.
printf '\357\273\277' | cat - umi.fq >mark.fq
works qc --quiet -A -i mark.fq -o o.fq "${quiet[@]}"
check "a byte order mark" same_files umi.fq o.fq

# Warnings: mates with other names, an adapter that is the sample.
printf '@one/1\nGATTACATTGACCAGTTGAC\n+\nHHHHHHHHHHHHHHHHHHHH\n' >m1.fq
sed 's/one.1/one\/2/' m1.fq >m2.fq
sed 's/one.1/two\/2/' m1.fq >m3.fq
works qc -A -i m1.fq -I m2.fq -o o1.fq -O o2.fq "${quiet[@]}"
check "mates of one name" bash -c '! grep -q warning err.txt'
works qc -A -i m1.fq -I m3.fq -o o1.fq -O o2.fq "${quiet[@]}"
check "mates of two names" err_has "warning: pair 1: the mates are called 'one' and 'two'; are the files of one run?"
works qc -A -i m1.fq -I m3.fq -o o1.fq -O o2.fq "${quiet[@]}" --quiet
check "also with --quiet" err_has "warning: pair 1"
python3 - <<'P'
import random
r = random.Random(13)
amplicons = ["".join(r.choices("ACGT", k=170)) for _ in range(2)]
with open("amplicons.fq", "w") as to:
    for i in range(12500):
        text = list(amplicons[i % 8 == 0][:120])
        if r.random() < 0.5: text[r.randrange(120)] = r.choice("ACGT")
        to.write(f"@a{i}\n{''.join(text)}\n+\n{'H' * 120}\n")
P
works qc -i amplicons.fq -o o.fq "${quiet[@]}"
check "an adapter that is the sample" err_has 'warning: [0-9]* of 12500 reads were cut at an adapter, and the one detected is none of the known ones'
works qc -A -i amplicons.fq -o o.fq "${quiet[@]}"
check "not with -A" bash -c '! grep -q warning err.txt'

# The script that answers to fastp's name.
compat=$source_dir/scripts/packaging/compat/fastp
export BIOGPU=$biogpu
sh "$compat" --in1 umi.fq true -A -w 2 --out1 o.fq no "${quiet[@]}" >out.txt 2>err.txt
check "words of no option are ignored" [ $? -eq 0 ]
check "and named" err_has '^fastp (biogpu): ignored, as fastp does: true$'
check "the reads are there" same_files umi.fq o.fq
check "the version" [ "$(sh "$compat" --version 2>/dev/null)" = "fastp 1.3.7" ]
check "of the profile" [ "$(sh "$compat" --profile fastp-0.23 -v 2>&1 >/dev/null)" = "fastp 0.23.2" ]
check "by the environment" [ "$(BIOGPU_FASTP_PROFILE=fastp-0.23 sh "$compat" -v 2>&1)" = "fastp 0.23.2" ]
BIOGPU_FASTP_PROFILE=fastp-0.23 sh "$compat" -A -i umi.fq -o o.fq "${quiet[@]}" -U --umi_loc read1 --umi_len 6 --umi_delim _ 2>err.txt
check "an option of fastp 1 chooses its profile" [ "$(head -1 o.fq)" = '@r:7_GATTAC 1:N:0:AC' ]

# An option that biogpu has not goes to the next fastp on PATH; what it has never does.
mkdir next
printf '#!/bin/sh\necho "handed on: $*"\n' >next/fastp
chmod +x next/fastp
for words in "-i umi.fq --new_option 3 -o o.fq" "--other=1" "-A --one-more"; do
  # shellcheck disable=SC2086
  check "'$words' is passed on" [ "$(PATH=$work/next:$PATH sh "$compat" $words)" = "handed on: $words" ]
done
check "the value of an option is not" [ "$(PATH=$work/next:$PATH sh "$compat" -R --new_option --version)" = "fastp 1.3.7" ]
n_options=0
# The last ones are not listed.
for option in $("$biogpu" qc --help | grep -o -- '--[a-z0-9_]*' | sort -u) --cut_by_quality5 --cut_by_quality3 \
  --cut_by_quality_aggressive --discard_unmerged; do
  n_options=$((n_options + 1))
  PATH=$work/next:$PATH sh "$compat" "$option" >out.txt 2>err.txt </dev/null
  check "$option is not" bash -c '! grep -q "handed on" out.txt'
done
check "all options were looked at" [ $n_options -gt 80 ]
finish
