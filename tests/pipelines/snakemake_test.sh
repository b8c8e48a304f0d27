#!/usr/bin/env bash
# The Snakemake wrappers and the example workflow, with Snakemake itself; the workflow's results
# against those of the original tools.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

pipelines=$source_dir/scripts/pipelines/snakemake
check_wrappers() { # FOLDER
  last_command=check_wrappers.py
  python3 "$pipelines/check_wrappers.py" "$biogpu" "$1" >out.txt 2>err.txt
  rc=$?
}
check_wrappers "$pipelines"
check "every wrapper calls what the program has" rc_is 0
check "there are wrappers" out_has '^11 of 11'

# The check itself finds what is wrong.
cp -r "$pipelines" copy
broken() { # DESCRIPTION SED FILE PATTERN
  sed -i "$2" "copy/$3"
  check_wrappers copy
  check "$1: exit code" rc_is 1
  check "$1" out_has "$4"
  cp "$pipelines/$3" "copy/$3"
}
broken "an option that is none" 's/--mer-len/--merlen/' wrappers/kmer/count/wrapper.py 'kmer/count: .*no option --merlen'
broken "an optional one that is none" 's/"--failed_out"/"--failed"/' wrappers/qc/wrapper.py 'qc: .*no option --failed'
broken "a command that is none" 's/"biogpu align/"biogpu aline/' wrappers/align/wrapper.py "align: .*no command 'aline'"
broken "an input that is not described" '/- target:/d' wrappers/align/meta.yaml 'align: .*input target is missing'
broken "a parameter that is not read" 's/- extra:/- extras:/' wrappers/gather/meta.yaml 'gather: .*params extra'
broken "an option in a rule" 's/--no-provenance/--no-provenence/' workflow/Snakefile 'workflow/Snakefile: kmers_part: .*no option --no-provenence'

if ! command -v snakemake >/dev/null; then
  echo "SKIPPED: no snakemake here, so that no wrapper was run; 'scripts/setup.sh --dev' installs it"
  finish
fi
mkdir bin home
ln -s "$biogpu" bin/biogpu
export PATH=$work/bin:$PATH HOME=$work/home XDG_CACHE_HOME=$work/home

# lay_out FOLDER: the bundled inputs under the names that the workflows have for them.
lay_out() {
  mkdir -p "$1"
  cp "$source_dir/data/lambda_reads.fq.gz" "$1/reads.fq.gz"
  cp "$source_dir/data/lambda.fa" "$1/genome.fa"
  cp "$source_dir/data/lambda_windows.fa" "$1/windows.fa"
  head -4 "$source_dir/data/proteins.fa" >"$1/few.fa"
  cp -r "$source_dir/tests/data/models/esm2_head16" "$1/model"
}

# snake FOLDER SNAKEFILE TARGET ARGUMENTS...: one run of Snakemake there, which fails where a file is
# not made that a rule says it makes.
snake() {
  last_command="snakemake $*"
  local folder=$1 file=$2 target=$3
  shift 3
  (cd "$folder" && snakemake "$target" --snakefile "$file" --cores 2 --nolock --quiet progress "$@") \
    >out.txt 2>err.txt
  rc=$?
  [ "$rc" -eq 0 ] || tail -30 err.txt
}

# Every wrapper by its own test.
wrappers_address=file:$pipelines/wrappers
while read -r test; do
  name=${test#"$pipelines/wrappers/"}
  name=${name%/test/Snakefile}
  lay_out "wrapper/$name"
  last_rule=$(awk '/^rule/ { rule = $2 } END { sub(":", "", rule); print rule }' "$test")
  snake "wrapper/$name" "$test" "$last_rule" --config wrappers="$wrappers_address"
  check "the wrapper of $name" rc_is 0
done < <(find "$pipelines/wrappers" -name Snakefile | sort)

# same_output FIRST SECOND COMMAND...: the command on either file works and writes the same, not empty, bytes.
# shellcheck disable=SC2317  # called through check
same_output() {
  local first=$1 second=$2
  shift 2
  "$@" "$first" >first.out && "$@" "$second" >second.out && [ -s first.out ] && cmp first.out second.out
}
# shellcheck disable=SC2317  # called through check
same_texts() { same_output "$1" "$2" gzip -dc; }

# A workflow made for the public wrappers runs with those of biogpu. Where WRAPPERS_CLONE is a clone of the public
# repository, it runs with the public ones too, and its results are compared.
in_place_of="fastp=qc bwa_index=bwt/index jellyfish_count=kmer/count jellyfish_merge=kmer/merge jellyfish_dump=kmer/dump jellyfish_histo=kmer/histo"
config=()
for pair in $in_place_of; do config+=("${pair%=*}=$wrappers_address/${pair#*=}"); done
lay_out drop_in
snake drop_in "$source_dir/tests/pipelines/drop_in.smk" all --config "${config[@]}"
check "a workflow for the public wrappers" rc_is 0
for file in se.fastq pe.merged.fastq report.json genome.sa other/named.sa reads.dump reads.histo; do
  check "$file is there" [ -s "drop_in/$file" ]
done
if [ -n "${WRAPPERS_CLONE-}" ]; then
  config=()
  for pair in fastp=fastp bwa_index=bwa/index jellyfish_count=jellyfish/count jellyfish_merge=jellyfish/merge \
    jellyfish_dump=jellyfish/dump jellyfish_histo=jellyfish/histo; do
    config+=("${pair%=*}=file:$WRAPPERS_CLONE/bio/${pair#*=}")
  done
  lay_out public
  snake public "$source_dir/tests/pipelines/drop_in.smk" all --config "${config[@]}"
  check "with the public wrappers" rc_is 0
  files="genome.amb genome.ann genome.bwt genome.pac genome.sa other/named.bwt reads.histo"
  # Reads are those of fastp 1.
  if fastp --version 2>&1 | grep -q '^fastp 1\.'; then
    files="$files se.fastq pe.1.fastq pe.2.fastq pe.u1.fastq pe.merged.fastq pe.failed.fastq"
  fi
  for file in $files; do
    check "$file is that of the public wrappers" same_files "drop_in/$file" "public/$file"
  done
  check "k-mers are those of the public wrappers" same_files <(sort drop_in/reads.dump) <(sort public/reads.dump)
fi

# The workflow over 1 and 3 parts: the same files; the results of the fastp that is here.
profile=fastp-1
if command -v fastp >/dev/null && fastp --version 2>&1 | grep -q '^fastp 0\.'; then profile=fastp-0.23; fi
for n in 1 3; do
  lay_out "parts$n"
  snake "parts$n" "$pipelines/workflow/Snakefile" all --config shards=$n "qc_options=--profile $profile"
  check "the workflow over $n parts" rc_is 0
done
results="sample_jf.hist bwa.amb bwa.ann bwa.bwt bwa.pac bwa.sa places.tsv pairs.tsv"
for n in 1 3; do works kmer dump -c -o "kmers$n.txt" "parts$n/sample.jf"; done
check "k-mers of 1 and of 3 parts" same_files kmers1.txt kmers3.txt
check "clean reads of 1 and of 3 parts" same_texts parts1/clean.fq.gz parts3/clean.fq.gz
for file in $results; do
  check "$file of 1 and of 3 parts" same_files "parts1/$file" "parts3/$file"
done
# shellcheck disable=SC2317  # called through check
same_reports() { same_output "$1/sample.fastp.json" "$2/sample.fastp.json" grep -v '"command"\|"biogpu"'; }
check "the report of 1 and of 3 parts" same_reports parts1 parts3

# The originals beside it.
missing=
for tool in fastp jellyfish bwa; do command -v $tool >/dev/null || missing="$missing $tool"; done
if [ -n "$missing" ]; then
  echo "SKIPPED: no$missing here, so that the workflow was not compared with the originals"
else
  lay_out originals
  snake originals "$pipelines/workflow/Snakefile.originals" all
  check "the workflow with the originals" rc_is 0
  check "clean reads as fastp's" same_texts parts3/clean.fq.gz originals/clean.fq.gz
  check "report as fastp's" same_reports parts3 originals
  check "spectrum as jellyfish's" same_files parts3/sample_jf.hist originals/sample_jf.hist
  jellyfish dump -c parts3/sample.jf | sort >ours.txt
  jellyfish dump -c originals/sample.jf | sort >theirs.txt
  check "k-mers as jellyfish's, read by jellyfish" same_files ours.txt theirs.txt
  check "k-mers are there" [ -s ours.txt ]
  for file in bwa.amb bwa.ann bwa.bwt bwa.pac bwa.sa; do
    check "$file as bwa's" same_files "parts3/$file" "originals/$file"
  done
  works bwt smem -q -x parts3/bwa parts3/clean.fq.gz -o fastmap.txt
  check "matches as bwa fastmap's" same_files fastmap.txt originals/fastmap.txt
fi
finish
