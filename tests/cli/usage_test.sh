#!/usr/bin/env bash
# Help, version, and every way to get the command line wrong.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example

run
check "no arguments: exit code 2" rc_is 2
check "no arguments: usage on stderr" err_has '^Usage: biogpu'
check "no arguments: nothing on stdout" n_lines_is out.txt 0

for command in "" align devices version; do
  # shellcheck disable=SC2086
  works $command --help
  check "help on stdout" out_has '^Usage: biogpu'
  check "help has examples" out_has '^Examples:'
  check "help ends with the exit codes" out_has '^Exit codes: 0 done'
  n_lines=52
  [ "$command" = align ] && n_lines=75
  check "help fits a screen, that of align a tall one" [ "$(wc -l <out.txt)" -le "$n_lines" ]
  check "help is at most 100 columns wide" bash -c '! grep -q "^.\{101\}" out.txt'
done
works align -h

works --version
check "first line of --version" bash -c 'head -1 out.txt | grep -qx "biogpu [0-9]*\.[0-9]*\.[0-9]*"'
check "backends in --version" out_has '^backends: cpu'
check "devices in --version" out_has '^devices: '
works version
check "version names the compiler" out_has '^compiler: '
check "version names the commit" bash -c \
  'grep -Eqx "commit: ([0-9a-f]{12,40}(-dirty)?|unknown)" out.txt'
works devices
works devices --json -
check "devices as JSON" python3 -m json.tool out.txt json.txt

# Every command's kernels are held to the instruction set, so every command checks its name.
isa=sse4
if [ "$(uname -m)" = aarch64 ]; then isa=neon; fi
export BIOGPU_CPU_ISA=avx9
fails 2 "BIOGPU_CPU_ISA is 'avx9'; expected $isa" kmer count -m 5 -o k.jf q.fa
fails 2 "BIOGPU_CPU_ISA is 'avx9'; expected $isa" align --mode sw q.fa t.fa
export BIOGPU_CPU_ISA=$isa
works align --mode sw q.fa t.fa -o isa.tsv --json isa.json
check "the summary names the instruction set" grep -q "\"cpu_isa\": \"${isa^^}\"" isa.json
unset BIOGPU_CPU_ISA

fails 2 "no command 'alig'; did you mean 'align'?" alig
fails 2 "no command 'zzzzzz'; see" zzzzzz
fails 2 "no option '--versoin'" --versoin
for command in align "kmer count" kmer qc "bwt index" "infer embed"; do
  # shellcheck disable=SC2086
  fails 2 "$(case $command in qc) echo "no input" ;; kmer) echo "no command given" ;; *) echo "is required" ;; esac)" $command
  check "$command alone: its usage" err_has "^Usage: biogpu $command"
  check "and nothing on stdout" n_lines_is out.txt 0
done
fails 2 "TARGET is required" align --mode sw q.fa
check "no usage with an argument" bash -c '! grep -q ^Usage err.txt'
fails 2 "--mode is required" align q.fa t.fa
fails 2 "--mode: 'zz'; expected nw, " align --mode zz q.fa t.fa
fails 2 "no option '-v'; did you mean '--version'?" -v
fails 2 "no command 'mem'; did you mean 'smem'?" bwt mem x
fails 2 "--mer-len is required; see 'biogpu kmer count --help'" kmer count q.fa
fails 2 "no option '--mer-length'; did you mean '--mer-len'?; see 'biogpu kmer count --help'" kmer count --mer-length 21 q.fa
fails 2 "no option '--min-scor'; did you mean '--min-score'?; see 'biogpu align" align --mode sw --min-scor 5 q.fa t.fa
fails 2 "one argument too many: 'more.fa'" align --mode sw q.fa t.fa more.fa
fails 2 "one argument too many: 'q.fq'; the reads are named by -i and -I" qc q.fq -o o.fq
fails 2 "no command 'search'; see 'biogpu bwt locate --help'" search q.fa
# What users of other programs type.
fails 2 "no command 'trim'; see 'biogpu qc --help'" trim -i q.fq
fails 2 "no command 'jellyfish'; see 'biogpu kmer --help'" jellyfish count
fails 2 "no command 'parasail_aligner'; see 'biogpu align parasail --help'" parasail_aligner
fails 2 "no option '-k'; k is -m/--mer-len; see 'biogpu kmer count --help'" kmer count -k 21 q.fa
fails 2 "no option '-k21'; k is -m/--mer-len" kmer count -k21 q.fa
fails 2 "no option '--kmer_size'; k is -m/--mer-len" kmer bc --kmer_size 21 q.fa
fails 2 "no option '--gpu'; use --device gpu" align --mode sw --gpu q.fa t.fa
fails 2 "no option '--gpu'; use --device gpu" infer embed --gpu --model folder p.fa
fails 2 "no option '-a'; Parasail's options: 'biogpu align parasail'" align -a sw_trace -f q.fa
fails 2 "no option '--num_threads'; threads are -t/--threads" kmer count -m 5 --num_threads 4 q.fa
fails 2 "no option '--cores'; threads are -w/--thread" qc --cores 4 -i q.fq
# Behind -- all words are arguments.
works align --mode sw -- q.fa t.fa
fails 2 "one argument too many: '-q'" align --mode sw -- q.fa t.fa -q
fails 2 "one argument too many: '-q'" align --mode sw q.fa t.fa -- -q
fails 2 "one argument too many: '--gpu'" align --mode sw -q q.fa -- t.fa --gpu
fails 2 "no option '--gpu'" align --mode sw --gpu -- q.fa t.fa -q
for value in inf nan 0 -1; do
  fails 2 "--evalue: expected a number above 0" align --mode sw --top 1 --evalue $value q.fa t.fa
  check "a short message" [ "$(wc -c <err.txt)" -lt 100 ]
done
works align --mode SW --matrix BLOSUM62 q.fa t.fa
cp out.txt upper.tsv
works align --mode sw --matrix blosum62 q.fa t.fa
check "names in upper case" same_files out.txt upper.tsv
fails 2 "--mismatch 3 would reward mismatches" align --mode sw --mismatch 3 q.fa t.fa
fails 2 "no option '--bogus'; see 'biogpu align --help'" align --mode sw --bogus q.fa t.fa
fails 2 "--threads" align --mode sw -t x q.fa t.fa
fails 2 "--threads" align --mode sw -t -1 q.fa t.fa
fails 2 "--match" align --mode sw --match 1000 q.fa t.fa
fails 2 "--gap-open" align --mode sw --gap-open -1 q.fa t.fa
fails 2 "--batch" align --mode sw --batch -5 q.fa t.fa
fails 2 "--max-memory" align --mode sw --max-memory lots q.fa t.fa
fails 2 "--max-memory" align --mode sw --max-memory 2GB q.fa t.fa
fails 2 "--max-memory" align --mode sw --max-memory 99999999T q.fa t.fa
works align --mode sw -q --max-memory 2g --batch 1k q.fa t.fa
fails 2 "--matrix" align --mode sw --matrix blosum99 q.fa t.fa
fails 2 "exclude each other" align --mode sw --matrix blosum62 --match 2 q.fa t.fa
fails 2 "leave out --alphabet dna" align --mode sw --matrix blosum62 --alphabet dna q.fa t.fa
fails 2 "leave out --alphabet protein" align --mode sw --match 2 --alphabet protein q.fa t.fa
fails 2 "--format" align --mode sw --format xml q.fa t.fa
fails 2 "SAM holds a CIGAR" align --mode sw --output score --format sam q.fa t.fa
fails 2 "both be standard input" align --mode sw - -
fails 2 "needs all targets first" align --mode sw --pairs --format sam q.fa -
fails 2 "both go to standard output" align --mode sw --json - q.fa t.fa
fails 2 "--quiet" align --mode sw -q -v q.fa t.fa

export BIOGPU_DEVICE=tpu
for command in "align --mode sw q.fa t.fa" "qc -i q.fa" "infer bench --quick" "kmer count -m 3 q.fa"; do
  # shellcheck disable=SC2086
  fails 2 "tpu" $command
done
unset BIOGPU_DEVICE
export BIOGPU_THREADS=many
fails 2 "many" align --mode sw q.fa t.fa
for command in "kmer bc -m 5 -s 1k q.fa" "kmer query q.jf" "kmer sketch q.fa" "kmer dist q.fa t.fa" "qc -i q.fq" "align parasail -f t.fa"; do
  # shellcheck disable=SC2086
  fails 2 "BIOGPU_THREADS: 'many'; expected a whole number from 0 to 1024" $command
done
export BIOGPU_THREADS=0
works kmer sketch -k 5 q.fa
export BIOGPU_THREADS=2
works kmer bc -m 5 -s 1k -o q.bc q.fa
works kmer sketch -k 5 -t 0 q.fa
works align --mode sw q.fa t.fa
check "BIOGPU_THREADS is used" err_has '2 threads'
works align --mode sw -t 1 q.fa t.fa
check "-t wins over BIOGPU_THREADS" err_has '1 thread ('
works align --mode sw --threads 0 q.fa t.fa

# No output takes the place of an input, by any of its names. Names without a suffix may be those of
# any output.
cp t.fa t
cp q.fa q
ln -s t link
cp t.fa kept.fa
cp t.fa t.bgfm
cp t.fa t.pac
touch a.npy b.npy a.npy.index.tsv b.npy.index.tsv
works bwt index -q t.fa -p g
works bwt index -q --format bwa t.fa -p g
ln -s a.npy.index.tsv index.npy
ln -s g.bgfm index.tsv
for command in "align --mode sw q.fa t -o ./t" "align --mode sw q.fa t -o link" \
  "align --mode sw q.fa t -o rows.tsv --json t" "align --mode sw q.fa t.fa -o rows.tsv --json ./rows.tsv" \
  "bwt transform t -o link" "bwt inverse t -o link" "gather t q --format tsv -o t" \
  "gather a.npy b.npy -o index.npy" "bwt index t.bgfm -p t" "bwt index t.fa -p g --json ./g.bgfm" \
  "bwt index --format bwa t.pac -p t" "bwt index --format bwa t.fa -p g --json g.sa" \
  "bwt count -x g q -o q" "bwt locate -x g q.fa -o index.tsv" "bwt smem -x g q.fa -o g.sa" \
  "bwt stats g -o g.bgfm" "bwt extract -x g t1 --json g.bgfm"; do
  # shellcheck disable=SC2086
  fails 2 "name the same file" $command
done
check "the input is what it was" same_files t kept.fa
for name in t.bgfm t.pac; do
  check "the genome is what it was" same_files $name kept.fa
done
for command in "align --mode sw q.fa t.fa" "bwt transform t.fa" "bwt stats g"; do
  # shellcheck disable=SC2086
  fails 2 "both go to standard output" $command --json -
done

finish
