#!/usr/bin/env bash
# Every option of every command, with a value that it cannot have and without one: one plain line that
# names the option, and none of the words of the library that reads the command line.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example
export HOME=$work

# What CLI11 says of its own, in the versions of Debian 12 and Ubuntu 24.04.
raw='Could not convert|not in range|required but received|At Most|At Least|required [A-Z]* *missing|arguments to|were not expected|was not expected| not in \{|is required and|A subcommand|[Rr]equires at|Exactly|not an allowed value|Should be true|too many inputs|disallowed flag|INT|UINT|FLOAT|TEXT missing|ENUM|BOOLEAN|Run with --help|\[Option Group'
# shellcheck disable=SC2317  # called by check
plain() { ! grep -qE "$raw" err.txt; }

# options.txt: a command and an option that takes a value on each line, from what the shell completes. Parasail's have a
# parser of their own and are tried below.
run completion bash
awk '/^    "/ { gsub(/^ *"|"\)$/, ""); command = $0 }
  /with_value="/ { gsub(/^ *with_value=" *| *"$/, ""); n = split($0, words, / +/)
    for (i = 1; i <= n; ++i) if (words[i] != "" && command != "align parasail") print command "\t" words[i] }' out.txt >options.txt
check "options of many commands" [ "$(wc -l <options.txt)" -gt 250 ]
check "of the commands below commands too" grep -q '^kmer count	--mer-len$' options.txt

touch @@  # no folder, so that @@/@@ cannot be made
cat >sweep.py <<'TEXT'
import re, subprocess, sys

biogpu, raw = sys.argv[1:3]
n_wrong = 0

def run(*words):
    done = subprocess.run([biogpu, *words], input=b"", capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode(errors="replace")

def require(holds, what, words, text):
    global n_wrong
    if not holds:
        n_wrong += 1
        print(f"{what}: biogpu {' '.join(words)}\n  {text.strip()[:300]}")

for line in open("options.txt"):
    command, option = line.rstrip("\n").split("\t")
    words = command.split() + [option]
    code, text = run(*words)
    if words == ["qc", "-h"]:
        require(code == 0, "no help", words, text)
        continue
    named = f"biogpu {words[0]}: {option} is the last word; expected a value"
    require(code == 2 and text.startswith(named) and text.count("\n") == 1 and not re.search(raw, text),
            "an option without its value", words, text)
    # Not the whole benchmark where the value is a text of another option.
    if words[:2] in (["infer", "bench"], ["lab", "bench"]) and option != "--model":
        words[2:2] = ["--model", "nowhere"]
    # Neither a number, nor one of any set of words, nor a file.
    words.append("@@/@@")
    code, text = run(*words)
    last = text.rstrip("\n").split("\n")[-1]
    require(code != 0 and last.startswith("biogpu ") and not re.search(raw, text), "a value that cannot be", words, text)
    # An empty one is refused before anything is opened, in both ways to write it.
    for empty in ([option, ""], [option + "="]) if option.startswith("--") else ([option, ""],):
        given = command.split() + empty
        code, text = run(*given)
        require(code == 2 and re.search(f"^biogpu {given[0]}: [^ ]+: ''; expected ", text) and text.count("\n") == 1,
                "an empty value", given, text)

# Arguments in the order of the help, each empty in turn.
n_arguments = 0
for command in sorted({line.split("\t")[0] for line in open("options.txt")} | {"gather", "kmer info"}):
    words = command.split()
    help_text = subprocess.run([biogpu, *words, "--help"], capture_output=True, text=True).stdout
    arguments = re.search(r"\nPositionals:\n((?:  .*\n)+)", help_text)
    before = []
    for name in re.findall(r"^  ([A-Z]\S*)", arguments.group(1), re.M) if arguments else []:
        n_arguments += 1
        code, text = run(*words, *before, "")
        require(code == 2 and text.startswith(f"biogpu {words[0]}: {name}: ''; expected ") and text.count("\n") == 1,
                "an empty argument", words + before + [""], text)
        before.append({"OPERATION": "union"}.get(name, "some.fa"))
require(n_arguments > 25, "arguments", [], str(n_arguments))

# Parasail's own options, which are read by getopt().
shown = subprocess.run([biogpu, "align", "parasail", "-h"], capture_output=True, text=True).stdout
options = re.findall(r"(-[a-zA-Z]) (?:FILE|NAME|N|PAIRS|FORM)\b", shown)
require(len(options) > 14, "options of Parasail", [], shown)
for option in options:
    words = ["align", "parasail", "-f", "q.fa", option, ""]
    code, text = run(*words)
    require(code == 2 and text.startswith(f"biogpu align parasail: {option}: ''; expected ") and text.count("\n") == 1,
            "an empty value", words, text)
sys.exit(n_wrong > 0)
TEXT
last_command="sweep.py"
python3 sweep.py "$biogpu" "$raw" >out.txt 2>err.txt
rc=$?
check "every option with a wrong value and without one" rc_is 0

# Numbers: what was found and what was expected.
for words in "align --mode sw -t" "bwt index --sa-rate" "kmer count -m 5 -p" "kmer sketch -k" "infer bench --runs" "infer score --seed" \
  "bwt smem -l"; do
  for value in x 1.5 -7 99999999999999999999 '' 1e; do
    read -ra split <<<"$words"
    fails 2 "${split[-1]#-}.*: '$value'.*; expected a.* number" "${split[@]}" "$value"
    check "plain words" plain
  done
done
for option in --min-score --evalue; do
  fails 2 "$option: ''; expected a.* number" align --mode sw $option '' q.fa t.fa
done
# As the original tools take them: a plus in front of a number, whole or not.
works align --mode sw -q --pairs -t 2 --match 3 --gap-open 7 q.fa t.fa
cp out.txt plain.txt
works align --mode sw -q --pairs -t +2 --match +3 --gap-open +07 q.fa t.fa
check "a plus says nothing" same_files out.txt plain.txt
works kmer bc -m 5 -s 100 -f +0.02 -o plus.bc t.fa
for value in ++2 +-2 +; do
  fails 2 "--threads: '$value'; expected a whole number" align --mode sw --pairs -t $value q.fa t.fa
  fails 2 "--fpr: '$value'; expected a number" kmer bc -m 5 -s 100 -f $value -o plus.bc t.fa
done
# Neither the next word nor nothing is taken for the value of `--name=`; an empty variable of the environment is none.
fails 2 "--matrix: ''; expected a value" align --mode nw --matrix= t.fa q.fa
fails 2 "TARGET: ''; expected a value" align --mode nw q.fa ''
printf '>only\nACGT\n' >--name=
works align --mode nw -q -- --name= t.fa
BIOGPU_THREADS='' BIOGPU_DEVICE='' works align --mode nw -q q.fa t.fa
BIOGPU_THREADS='' BIOGPU_DEVICE='' works align parasail -x -a nw_scan_16 -f t.fa -q q.fa -g out.csv
fails 2 "one argument too many: ''" align parasail -x -a nw_scan_16 -f t.fa ''
# The shims of the original tools pass an empty value on.
for words in "fastp -i" "bwa index -p" "bwa index -a" "jellyfish count -m" "parasail_aligner -q"; do
  read -ra split <<<"$words"
  last_command="$words ''"
  BIOGPU=$biogpu sh "$source_dir/scripts/packaging/compat/${split[0]}" "${split[@]:1}" '' t.fa >out.txt 2>err.txt
  rc=$?
  check "exit code 2" rc_is 2
  check "the empty value is named" err_has "${split[-1]#-}.*: ''; expected"
done
# Words: the choices.
fails 2 "--format: 'xlm'; expected tsv, sam, paf, blast6, csv, emboss or ssw" align --mode sw --format xlm q.fa t.fa
fails 2 "--strand: 'up'; expected both, forward or reverse" align --mode sw --strand up q.fa t.fa
fails 2 "--format: 'bw'; expected native or bwa" bwt index --format bw t.fa
fails 2 "OPERATION: 'xor'; expected " kmer set xor -o x.jf a.jf b.jf
fails 2 "--include: 'max'; expected mean, residues or cls" infer embed --include max --model m q.fa
fails 2 "--progress: '1'; expected always, auto or never" align --mode sw --progress 1 q.fa t.fa
long=$(printf 'x%.0s' {1..5000})
fails 2 "expected a whole number" align --mode sw -t "$long" q.fa t.fa
check "a long value is cut" [ "$(wc -c <err.txt)" -lt 300 ]
# Flags, pairs of options, and commands that are missing.
fails 2 "--self: 'maybe'; expected no value behind a flag" align --mode sw --self=maybe q.fa
fails 2 "--quiet and --verbose exclude each other\|--verbose and --quiet exclude each other" bwt index -q -v t.fa
for command in kmer bwt infer; do
  fails 2 "no command given; expected .* or " $command
  check "plain words" plain
done
export BIOGPU_THREADS=-4
fails 2 "BIOGPU_THREADS: '-4'; expected a whole number from 0 to 1024" align --mode sw q.fa t.fa
fails 2 "--threads: 'q'; expected" align --mode sw -t q q.fa t.fa
unset BIOGPU_THREADS

# What was meant.
fails 2 "no command 'idnex'; did you mean 'index'?" bwt idnex t.fa
fails 2 "no command 'cuont'; did you mean 'count'?" kmer cuont -m 4 q.fa
fails 2 "no command 'desing'; did you mean 'design'?" infer desing
fails 2 "no command 'histo'; did you mean 'kmer histo'?" histo a.jf
fails 2 "no command 'count'; did you mean 'bwt count' or 'kmer count'?" count q.fa
fails 2 "no command 'qq'; did you mean 'qc'?" qq
fails 2 "no option '--lenght-required'; did you mean '--length_required'?" qc -i q.fa --lenght-required 20
fails 2 "no option '--canon'; did you mean '--canonical'?" kmer count -m 5 --canon q.fa
fails 2 "no option '--outptu'; did you mean '--output'?" bwt count -x g q.fa --outptu a.tsv
for word in -=x -= --=x; do
  fails 2 "no option '${word%%=*}'" kmer count -m 5 q.fa $word
done
fails 2 "no option '--hlep'; did you mean '--help'?" --hlep
fails 2 "no command 'idnex'" bwt idnex --help

# Help and version wherever they are looked for.
works qc --help
cp out.txt qc_help.txt
for words in "qc -h" "help qc"; do
  # shellcheck disable=SC2086
  works $words
  check "the help of qc" same_files out.txt qc_help.txt
done
works bwt smem --help
cp out.txt smem_help.txt
works help bwt smem
check "the help of a command below one" same_files out.txt smem_help.txt
works --help
cp out.txt top_help.txt
works help
check "the help of biogpu" same_files out.txt top_help.txt
fails 2 "no command 'alig'; did you mean 'align'?" help alig
fails 2 "no command 'xyz'; see 'biogpu bwt --help'" help bwt xyz
works --version
cp out.txt version.txt
for words in "qc --version" "qc -v" "kmer --version" "kmer count --version" "bwt locate --version" "infer --version" \
  "align --version" "gather --version"; do
  # shellcheck disable=SC2086
  works $words
  check "the version" same_files out.txt version.txt
done
fails 2 "-h is the last word; expected a value, FILE, behind it" qc -i q.fa -h

finish
