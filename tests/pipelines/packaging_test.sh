#!/usr/bin/env bash
# What is packaged: manual pages, completions, the shims, the Dockerfile.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

packaging=$source_dir/scripts/packaging
skipped() { echo "SKIPPED: no $1 here, so that $2"; }

# Manual pages of all commands, without a complaint of the formatter.
works man --all pages
check "a page of biogpu" exists pages/biogpu.1
check "a page of a subcommand" exists pages/biogpu-bwt-index.1
check "a page of each command" [ "$(find pages -name '*.1' | wc -l)" -ge 35 ]
works man bwt index
check "one page" same_files out.txt pages/biogpu-bwt-index.1
check "its options" out_has '^.*fB.*-prefix\|\\-\\-prefix'
fails 2 "no command 'bwt indx'" man bwt indx
if command -v man >/dev/null; then
  for page in pages/*.1; do
    last_command="man $page"
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>err.txt
    check "man --warnings $page" err_is_empty
  done
  LC_ALL=C.UTF-8 MANWIDTH=80 man -l pages/biogpu-align.1 2>/dev/null | sed 's/.\x08//g' >out.txt
  check "options as they are typed" out_has '^ *-m, --mode MODE'
  check "examples" out_has '^ *biogpu align --mode'
else
  skipped man "no page was formatted"
fi
# The pages tell every option of the help.
for command in align qc "kmer count" "bwt index" "infer embed"; do
  # shellcheck disable=SC2086
  run $command --help
  grep -oE '^ +(-.,)?--[a-z][a-z0-9_-]+' out.txt | grep -oE -- '--.*' | sort -u >in_help.txt
  # shellcheck disable=SC2086
  run man $command
  sed 's/\\-/-/g; s/\\f[BIR]//g' out.txt >page.txt
  missing=$(while read -r option; do grep -q -- "$option" page.txt || echo "$option"; done <in_help.txt)
  check "the page of '$command' has all options, not: $missing" [ -s in_help.txt -a -z "$missing" ]
done

# bash completes commands, options and leaves files to the shell.
works completion bash
cp out.txt biogpu.bash
completed() { # WORDS...: what is offered for the last of them, one a line
  bash --norc -c '
    source ./biogpu.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _biogpu
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@" >out.txt 2>err.txt
  last_command="completion of: $*"
}
completed biogpu ''
for command in align bwt kmer qc infer completion; do check "offers $command" out_has "^$command$"; done
completed biogpu al
check "al" out_is 'align\n'
completed biogpu bwt l
check "bwt l" out_is 'locate\n'
completed biogpu kmer count --can
check "kmer count --can" out_is -- '--canonical\n'
completed biogpu align --mode sw --pa
check "align --mode sw --pa" out_is -- '--pairs\n'
completed biogpu align --mode sw -o --
check "the value of -o is a file" out_is '\n'
completed biogpu align --mode sw read
check "an input is a file" out_is '\n'
completed biogpu qc --in
check "no spellings that the help hides" bash -c '! grep -q "interleaved-in" out.txt'
check "bash says nothing" err_is_empty
for shell in zsh fish; do
  works completion $shell
  if command -v $shell >/dev/null; then
    cp out.txt "biogpu.$shell"
    last_command="$shell -n"
    $shell -n "biogpu.$shell" >out.txt 2>err.txt
    rc=$?
    check "$shell reads its completion" rc_is 0
  else
    skipped $shell "its completion was not read"
  fi
done
if command -v fish >/dev/null; then
  HOME=$work fish --no-config -c 'source biogpu.fish; complete -C "biogpu bwt l"' >out.txt 2>err.txt
  check "fish offers locate" out_has '^locate'
  check "fish has nothing against it" err_is_empty
  HOME=$work fish --no-config -c 'source biogpu.fish; complete -C "biogpu kmer count --can"' >out.txt 2>err.txt
  check "fish offers --canonical" out_has '^--canonical'
fi
fails 2 "SHELL" completion tcsh

# Papers.
works cite
check "our own entry" out_has '^@software{biogpu,'
n_all=$(grep -c '^@' out.txt)
works cite qc
check "fastp's paper" out_has '10.1093/bioinformatics/bty560'
check "of qc alone" [ "$(grep -c '^@' out.txt)" -lt "$n_all" ]
check "braces match" [ "$(tr -cd '{' <out.txt | wc -c)" -eq "$(tr -cd '}' <out.txt | wc -c)" ]
fails 2 "no papers for 'devices'" cite devices

# The shims, called as the programs whose names they have.
export BIOGPU=$biogpu
compat=$packaging/compat
cp "$source_dir/data/lambda.fa" "$source_dir/data/lambda_reads.fq.gz" .
shim() {
  last_command="$*"
  local name=$1
  shift
  "$compat/$name" "$@" >out.txt 2>err.txt
  rc=$?
}
shim fastp -w 1 -i lambda_reads.fq.gz -o clean.fq -j f.json -h f.html
check "fastp" exists f.html
shim jellyfish count -m 21 -C -s 1M -t 1 -o reads.jf lambda_reads.fq.gz
check "jellyfish count" rc_is 0
shim jellyfish histo reads.jf
check "jellyfish histo" out_has '^1 '
shim bwa index -a bwtsw -p lambda lambda.fa
check "bwa index" exists lambda.sa
shim bwa index -6 -p named lambda.fa
check "bwa index -6 with -p: the name is -p's" exists named.sa
check "and not another" absent named.64.sa
shim bwa index -6 lambda.fa
check "bwa index -6" exists lambda.fa.64.sa
shim bwa fastmap -l 20 lambda lambda_reads.fq.gz
check "bwa fastmap" out_has '^EM'
shim parasail_aligner -a sw_stats_striped_16 -f lambda.fa -q lambda_reads.fq.gz -d -g p.csv
check "parasail_aligner" exists p.csv

# What biogpu does not cover goes to the next program of that name on PATH, with its arguments, its
# output and its exit code; without one the shim says so. Folders of shims are passed over, also
# another's copy and one behind a link.
mkdir -p bare others
for tool in sh bash dirname readlink cat sed; do ln -s "$(command -v $tool)" bare; done
for name in bwa jellyfish fastp parasail_aligner; do
  printf '#!/bin/sh\necho "the other %s:" "$@"\nexit 7\n' $name >others/$name
  chmod +x others/$name
done
cp -r "$compat" copied
ln -s "$compat" linked
on_path() { # FOLDERS NAME ARGUMENTS...: the shim, first on a PATH of these folders and bare tools
  local folders=$1
  shift
  last_command="PATH=$folders $*"
  PATH=$compat:$folders:$work/bare "$@" >out.txt 2>err.txt
  rc=$?
}
all=$compat:$work/copied:$work/linked:$work/others
for words in "bwa mem -t 2 g r.fq" "bwa aln g r.fq" "bwa index -Z g.fa" "bwa index -p g a.fa b.fa" "bwa fastmap -i 5 g r.fq" \
  "bwa fastmap -l 9 -w 3 g" "bwa" \
  "jellyfish mem -m 31 -s 2G" "jellyfish cite" "jellyfish jf" "jellyfish count -m 5 -Z r.fq" "jellyfish histo --new 3 r.jf" \
  "jellyfish count -m5 -CZ r.fq" "fastp -i r.fq --new_option 3 -o o.fq" "fastp --other=1 word" "fastp -i r.fq -E 3 -o o.fq" \
  "fastp -AE -i r.fq" "parasail_aligner -a sw -Z t.fa" "parasail_aligner -xZ -f t.fa"; do
  read -ra words <<<"$words"
  on_path "$all" "${words[@]}"
  check "the other's exit code" rc_is 7
  check "the other's output" out_is 'the other %s\n' "${words[0]}:${words[1]+ ${words[*]:1}}"
done
# What it covers stays here: also values that look like options, glued values and dashes for underscores.
for words in "fastp -i lambda_reads.fq.gz -Aw1 -R --report -o o.fq" "fastp -w1 -i lambda_reads.fq.gz --trim-poly-x --out1=o.fq" \
  "fastp --version" "fastp -v" "jellyfish count -m21 -Cs 1M -t1 -o o.jf lambda_reads.fq.gz" \
  "jellyfish histo -l 1 o.jf" "jellyfish dump -ct o.jf" "parasail_aligner -xd -a nw -f lambda.fa -q lambda.fa -g o.csv"; do
  read -ra words <<<"$words"
  on_path "$all" "${words[@]}"
  check "biogpu's own" rc_is 0
  check "not the other's" bash -c '! grep -q "^the other" out.txt'
done
letters=$("$biogpu" align parasail -h | python3 -c 'import re, sys
print("".join(sorted(letter + ":" * bool(value) for letter, value in re.findall(r"^  -(\w)(?:,--help)?(?: (\S+))?  +", sys.stdin.read(), re.M))))')
check "the shim has the options of align parasail" [ -n "$letters" -a "$letters" = "$(sed -n 's/^letters=://p' "$compat/parasail_aligner" |
  grep -o '[A-Za-z]:\?' | LC_ALL=C sort | tr -d '\n')" ]

# The same with the originals themselves, where they are installed.
original() { # NAME ARGUMENTS...: the shim in front of the PATH as it is
  last_command="$*"
  PATH=$compat:$PATH "$@" >out.txt 2>err.txt
  rc=$?
}
if command -v bwa >/dev/null; then
  original bwa mem -v 1 lambda lambda_reads.fq.gz
  check "bwa mem over the index of the shim" rc_is 0
  check "its alignments" out_has '^@PG.*bwa mem'
else
  skipped bwa "bwa mem was not passed on to it"
fi
if command -v fastp >/dev/null; then
  original fastp -i lambda_reads.fq.gz -E
  check "fastp's own words for its options" err_has 'undefined short option: -E'
else
  skipped fastp "nothing was passed on to it"
fi
if command -v jellyfish >/dev/null; then
  original jellyfish mem -m 21 -s 1M
  check "jellyfish mem" rc_is 0
  check "its answer" out_has '^[0-9]* '
else
  skipped jellyfish "jellyfish mem was not passed on to it"
fi

for words in "bwa mem g r.fq" "bwa index -Z g.fa" "jellyfish mem -m 31"; do
  read -ra words <<<"$words"
  on_path "$work/copied" "${words[@]}"
  check "no other" rc_is 2
  check "no other, and it says so" err_has "no other '${words[0]}' is on PATH"
done

# What workflows read versions from.
on_path "$work/copied" bwa
check "bwa alone" rc_is 1
check "its version" [ "$(sed -n 's/^Version: //p' err.txt)" = 0.7.17-r1188 ]
on_path "$work/copied" fastp --version
check "fastp --version" [ "$(sed -e 's/fastp //g' out.txt)" = 1.3.7 ]
on_path "$work/copied" jellyfish --version
check "jellyfish --version" out_is 'jellyfish 2.3.0\n'
on_path "$work/copied" jellyfish cite
check "jellyfish cite" out_has 'doi:10.1093/bioinformatics/btr011'

# The Dockerfile and the check of it.
last_command=check_dockerfile.py
python3 "$packaging/check_dockerfile.py" "$packaging/docker/Dockerfile" >out.txt 2>err.txt
rc=$?
check "the Dockerfile" rc_is 0
sed 's/:12[0-9.]*-slim/:latest/; s/image.licenses=/image.license=/; s/ --no-install-recommends//; s/^USER nobody/USER root/; s/--from=build-cpu/--from=cpu2/' \
  "$packaging/docker/Dockerfile" >Dockerfile
python3 "$packaging/check_dockerfile.py" Dockerfile >out.txt 2>err.txt
for fault in "tag other than latest" "expected --no-install-recommends" "runs as root" "no stage cpu2" "no label licenses"; do
  check "a Dockerfile with a fault" out_has "$fault"
done
version=$("$biogpu" --version | sed -n '1s/biogpu //p')
check "the Dockerfile names this version" grep -q -F "image.version=\"$version\"" "$packaging/docker/Dockerfile"
check "the wrappers name this version" bash -c "! grep -rL 'biogpu =$version' '$source_dir/scripts/pipelines/snakemake/wrappers' --include=environment.yaml | grep -q ."
finish
