#!/usr/bin/env bash
# An option given more than once, in every command: of values the last counts, as in fastp, Jellyfish
# and bwa; a flag may be repeated; a list grows, and refuses an item that it has.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Every option of every command: given twice, it is read, or refused, as it is once.
python3 - "$biogpu" <<'PYTHON' >out.txt 2>&1
import os, re, subprocess, sys

biogpu = sys.argv[1]


def leaves(path):
    text = subprocess.run([biogpu, *path, "--help"], capture_output=True, text=True).stdout
    inner = [w for w in re.findall(r"^  ([a-z][a-z-]*) ", text, re.M) if w != "biogpu"]
    found = [] if not path else [(path, text)]
    for word in inner:
        below = subprocess.run([biogpu, *path, word, "--help"], capture_output=True, text=True)
        if below.returncode == 0 and below.stdout != text and f"Usage: {' '.join(['biogpu', *path, word])} " in below.stdout + " ":
            found += leaves([*path, word])
    return found


n_commands = n_options = n_lists = 0
for path, text in leaves([]):
    n_commands += 1
    for names, kind in re.findall(r"^  (-[^ ]+) ([A-Z%]\S*)", text, re.M):
        option = names.split(",")[-1]
        n_options += 1
        is_list = (",..." in kind or kind == "REGION" or option == "--bias") and not option == "--fixed"
        for value in ("7", "no/such"):
            once = subprocess.run([biogpu, *path, option, value, "--help"], capture_output=True, text=True)
            twice = subprocess.run([biogpu, *path, option, value, option, value, "--help"], capture_output=True, text=True)
            told = twice.stderr.replace(f"{value},{value}", value)
            if is_list and once.returncode == 0:
                n_lists += 1
                for given in ([value, option, value], [f"{value},{value}"], [f"{value},", None], [f",{value}", None]):
                    wrong = "has an empty item" if None in given else "is listed twice"
                    if kind == "REGION" and len(given) != 3:
                        continue
                    done = subprocess.run([biogpu, *path, option, *[g for g in given if g is not None], "--help"],
                                          capture_output=True, text=True)
                    if done.returncode != 2 or f"{option}: '" not in done.stderr or wrong not in done.stderr:
                        print(" ".join(path), option, given, ":", done.stderr.strip())
            elif (once.returncode, once.stderr) != (twice.returncode, told):
                print(" ".join(path), option, value, ":", once.stderr.strip(), "|", twice.stderr.strip())
print(n_commands, "commands", n_options, "options", n_lists, "lists")
PYTHON
last_command="every option, once and twice"
check "each option is read alike" n_lines_is out.txt 1
check "all commands were looked at" python3 -c "
n_commands, _, n_options, _, n_lists, _ = open('out.txt').read().split()
raise SystemExit(int(n_commands) < 30 or int(n_options) < 250 or int(n_lists) < 20)"

# The last value is the one that counts.
write_example
write_random 3 40 60 ACGT r >r.fa
awk 'NR % 2 { print "@" substr($0, 2); next } { q = $0; gsub(/./, "I", q); print $0 "\n+\n" q }' r.fa >r.fq
# last_counts OPTIONS -- ARGUMENTS...: with the options, the first of which contradict the last, a
# command gives what it gives with the last pair alone.
last_counts() {
  local options=()
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  works "$@" "${options[@]: -2}"
  cp out.txt once.txt
  works "$@" "${options[@]}"
  check "${options[*]} is ${options[*]: -2}" same_files once.txt out.txt
}
last_counts --mode nw --mode sw -- align --device gpu --device cpu -q --pairs q.fa t.fa
last_counts --columns score --columns query,target,score -- align -q --pairs --mode sw q.fa t.fa
last_counts --gap-open 3 --gap-open 11 -- align -q --pairs --mode sw q.fa t.fa
works kmer count -m 21 -m 5 -o a.jf -o b.jf r.fa
check "-o: the last is written" exists b.jf
check "-o: the first is not" absent a.jf
last_counts -l 1 -l 2 -- kmer histo b.jf
last_counts -h 3 --high 7 -- kmer histo b.jf
last_counts -k 15 -k 6 -- kmer sketch r.fa
works bwt index -q -p first -p second r.fa
check "-p: the last is written" exists second.bgfm
last_counts -k 3 -k 0 -- bwt locate -q -x second.bgfm r.fa
last_counts -x nofile -x second.bgfm -- bwt count -q r.fa
works qc --quiet -i nofile -i r.fq -o x.fq -l 59 -l 20 -j a.json -j b.json
works qc --quiet -i r.fq -o y.fq -l 20
check "qc: the last values count" same_files x.fq y.fq
check "qc: a report under its last name" exists b.json
works qc --quiet -i r.fq -o z.fq --length_required 20 --length-required 59
works qc --quiet -i r.fq -o y.fq -l 59
check "qc: of both spellings the last" same_files z.fq y.fq
works gather -o lost.tsv -o got.tsv r.fa
check "gather: -o" absent lost.tsv
works align parasail -d -a nw_scan_16 -a sw_scan_16 -f q.fa -q t.fa -g no.csv -g ours.csv
works align parasail -d -a sw_scan_16 -f q.fa -q t.fa -g once.csv
check "parasail: the last counts" same_files ours.csv once.csv
fails 2 "one argument too many" kmer stats b.jf b.jf

# Flags may be repeated, lists grow.
works kmer count -C -C --canonical -m 5 -o c.jf r.fa
works qc --quiet --quiet -A -A -i r.fq -o x.fq -5 -5
head -2 r.fa >one.fa
sed -n 3,4p r.fa >two.fa
works kmer count -m 5 --if one.fa --if two.fa -o list.jf r.fa
works kmer count -m 5 --if <(cat one.fa two.fa) -o joined.jf r.fa
check "--if twice" cmp <("$biogpu" kmer dump -c list.jf | sort) <("$biogpu" kmer dump -c joined.jf | sort)
works kmer query b.jf -s one.fa -s two.fa -o twice.txt
works kmer query b.jf -s <(cat one.fa two.fa) -o joined.txt
check "-s twice" same_files twice.txt joined.txt

# Items that are the same in other words.
fails 2 "--columns: 'score' is listed twice" align --mode sw -q --columns score,query,score q.fa t.fa
fails 2 "--columns: 'score,,query' has an empty item" align --mode sw -q --columns score,,query q.fa t.fa
dna=$source_dir/tests/data/models/enformer_tiny
variants=(infer variants -q --device cpu --model "$dna" --genome "$dna/genome.fa" --head human --tracks 1 "$dna/variants.vcf")
for suffix in tsv vcf bcf; do
  fails 2 "--bins: 'centre:1' is listed twice" "${variants[@]}" --bins centre,centre:1 -o never.$suffix
  fails 2 "--bins: 'centre:3' is listed twice" "${variants[@]}" --bins centre:3,all,centre:3 -o never.$suffix
  fails 2 "--scores: 'SAR' is listed twice" "${variants[@]}" --scores SAR --scores SAR -o never.$suffix
  check "no output" absent never.$suffix
done
esm=$source_dir/tests/data/models/esm2_head16
fails 2 "--layers: 2 is listed twice, also as -1" infer embed -q --device cpu --model "$esm" --layers -1,0,2 q.fa
fails 2 "--shifts: '1' is listed twice" "${variants[@]}" --shifts 0,+1,01
fails 2 "--temperature: '0.10' is listed twice" infer design --model none --temperature 0.1,0.10 none.pdb
python3 "$source_dir/tests/support/random_proteinmpnn.py" mpnn >/dev/null 2>&1
fails 2 "--bias: 'A' is listed twice" infer design --model mpnn --bias A:1,A:2 "$source_dir/tests/data/models/proteinmpnn/edited.pdb"

# The shims of the original tools.
compat=$source_dir/scripts/packaging/compat
# shim NAME ARGUMENTS...: a run of the shim of this name.
shim() {
  local name=$1
  shift
  last_command="$name $*"
  BIOGPU=$biogpu sh "$compat/$name" "$@" >out.txt 2>err.txt
  rc=$?
  check "exit code 0" rc_is 0
}
shim fastp -i r.fq -o lost.fq -o x.fq -l 20 -l 59
check "fastp -l" same_files x.fq y.fq
shim jellyfish count -s 100 -s 1M -m 9 -m 5 -o lost.jf -o shim.jf r.fa
check "jellyfish -o" exists shim.jf
shim bwa index -p lost -p third r.fa
check "bwa index -p" exists third.bwt
shim bwa fastmap -l 17 -l 25 third r.fa
cp out.txt once.txt
shim bwa fastmap -l 25 third r.fa
check "bwa fastmap -l" same_files out.txt once.txt
finish
