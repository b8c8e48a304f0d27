#!/usr/bin/env bash
# Calls of the system that fail in every command: allocations, writes, closes, renames, links, thread
# starts, openings and mappings, one a run. Each run ends with the right result, or with one line, the
# exit code of the fault and no output. BIOGPU_FAULT_SHIM is the library that injects the fault
# (tests/support/fault_shim.cpp). With BIOGPU_FAULT_ALL=1 every call fails once; else the first ones
# and a sample of the others.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
shim=${BIOGPU_FAULT_SHIM:?}
models=$source_dir/tests/data/models
write_random 2 5 60 ACGT q >q.fa
write_random 3 5 60 ACGT t >t.fa
awk '/^>/ { sub(">", "@"); print; next } { q = $0; gsub(/./, "I", q); print $0 "\n+\n" q }' q.fa >q.fq
cp q.fq m.fq
printf '>p\nMKVL\n' >p.fa
cp "$models"/enformer_tiny/variants.vcf .
cp "$models"/enformer_tiny/genome.fa g0.fa
printf 'chr1\t1000\t1080\tp\n' >r.bed
python3 "$source_dir/tests/support/random_proteinmpnn.py" mpnn || exit 1
python3 "$source_dir/tests/support/potential_frames.py" write "$models/tensornet/o3" one.extxyz 1 || exit 1
for command in "bwt index -q t.fa -p i" "bwt index -q --format bwa t.fa -p i" "kmer count -q -m 7 -o a.jf q.fa" \
  "kmer count -q -m 7 -o b.jf t.fa" "kmer sketch -k 9 -o a.json q.fa" \
  "qc --quiet -i q.fq -o 1.fq -j 1.j -h 1.h --part 1.part" \
  "infer embed -q --device cpu --model $models/esm2_head16 --shard 1/2 p.fa -o part.npy"; do
  # shellcheck disable=SC2086
  works $command
done
for suffix in npy npy.index.tsv; do cp "part.$suffix" "other.$suffix"; done

# calls_to_fail N_CALLS FIRST STEPS: which calls fail.
calls_to_fail() {
  if [ -n "${BIOGPU_FAULT_ALL:-}" ]; then
    seq "$1"
  else
    # Steps that grow: what a command does once is at its beginning or end.
    awk -v n="$1" -v first="$2" -v steps="$3" 'BEGIN {
      for (i = 1; i <= n && i <= first; ++i) print i
      for (k = 1; k <= steps && n > first; ++k) {
        i = first + int((n - first) * k / steps)
        if (i > last) print i
        last = i
      }
    }' | sort -nu
  fi
}

# inject KIND N ARGUMENTS...: a run in which the N-th call of KIND fails. Leaves hit when there was one.
inject() {
  local fault=$1:$2
  shift 2
  rm -rf r hit && mkdir r
  [ "$keeps_index" = 1 ] || { rm -f genome.fa* && cp g0.fa genome.fa; }
  last_command="biogpu $*, $fault failing"
  BIOGPU_FAULT=$fault BIOGPU_FAULT_HIT=hit BIOGPU_FAULT_COUNT=count LD_PRELOAD=$shim \
    timeout 60 "$biogpu" "$@" <q.fa >out.txt 2>err.txt
  rc=$?
}

# Files that hold the time of the run are compared by their presence alone.
# shellcheck disable=SC2317  # called by check
same_results() {
  local file
  diff <(cd whole && ls) <(cd r && ls) && for file in whole/*; do
    case $file in
      *times.svg | *.json | *.j | *.html | *.part | *.bgk | *.jf | *.bc | *.bgfm) [ -s "r/${file##*/}" ] ;;
      *) cmp "$file" "r/${file##*/}" ;;
    esac || return 1
  done
}

# An index that was made on the way is whole, or not there.
# shellcheck disable=SC2317  # called by check
index_is_whole() {
  [ ! -e genome.fa.fai ] || cmp genome.fa.fai whole.fai
}

n_faults=0
sweep() {
  local kind=$1 first=$2 steps=$3 code=$4 n n_calls
  shift 4
  inject "$kind" 0 "$@"
  check "$kind: the run works without a fault" rc_is 0
  n_calls=$(od -An -td8 count | tr -d ' ')
  rm -rf whole && mv r whole
  [ ! -e genome.fa.fai ] || cp genome.fa.fai whole.fai
  for n in $(calls_to_fail "$n_calls" "$first" "$steps"); do
    inject "$kind" "$n" "$@"
    [ -e hit ] || continue  # threads differ from run to run
    n_faults=$((n_faults + 1))
    check "$kind $n: the index is whole or not there" index_is_whole
    if [ "$rc" = 0 ]; then
      check "$kind $n: same results" same_results
      continue
    fi
    check "$kind $n: exit code" grep -qxE "$code" <<<"$rc"
    check "$kind $n: one error line" one_error_line
    # What fails behind the last name leaves whole results.
    [ "$kind" = malloc ] && [ -n "$(ls r)" ] && same_results && continue
    check "$kind $n: nothing is left" rmdir r
  done
}

python3 "$source_dir/tests/support/write_npz.py" "$models/pairformer_tiny/expected.safetensors" trunk.npz --deflate \
  z=full/z s=full/s
recognize="infer recognize --device cpu -t 2 -q --chemistry plain --model $models/molscribe_tiny $models/molscribe_tiny/picture0.png"
affinity="infer affinity --device cpu -t 2 -q --model $models/dualbind --protein $models/dualbind/protein.pdb one.sdf"
sed '/^\$\$\$\$/q' "$models/dualbind/ligands.sdf" >one.sdf
# A build without the libraries of pictures, or without RDKit, has nothing to try here.
# shellcheck disable=SC2086
{
  run $recognize
  [ "$rc" = 0 ] || recognize=
  run $affinity
  [ "$rc" = 0 ] || affinity=
}
keeps_index=1
infer="--device cpu -t 2 -q"
while read -r line; do
  [ -n "$line" ] || continue
  keeps_index=1
  case $line in *genome.fa*) keeps_index=0 ;; esac
  # shellcheck disable=SC2086
  {
    sweep malloc 8 16 137 $line
    sweep thread 5 2 '1|137' $line
    sweep write 4 3 1 $line
    sweep close 3 2 1 $line
    sweep link 3 2 1 $line
    sweep open 9 4 1 $line
    sweep read 6 4 1 $line
    sweep mmap 3 2 137 $line
    export BIOGPU_NAMED_FILES=1
    sweep rename 3 2 1 $line
    unset BIOGPU_NAMED_FILES
  }
done <<E2
align -q --device cpu -t 2 --mode sw q.fa t.fa -o r/o.tsv --json r/o.json
align -q --device cpu -t 2 --mode nw q.fa t.fa -o r/o.bam
align parasail -x -f t.fa -q q.fa -t 2 -g r/o.csv
bwt index -q -t 2 --device cpu t.fa -p r/x
bwt index -q -t 2 --device cpu --format bwa t.fa -p r/x
bwt locate -q -t 2 --device cpu -x i q.fa -o r/o.tsv --json r/o.json
bwt smem -q -t 2 -x i q.fa -o r/o.txt
bwt transform -q -t 2 --device cpu t.fa -o r/o.txt
bwt stats -q i -o r/o.txt --json r/o.json
kmer count -q -t 2 --device cpu -m 7 -o r/o.jf q.fa t.fa
kmer count -q -t 2 --device cpu -m 31 -o r/o.bgk --json r/o.json --max-memory 1 --tmp-dir . q.fa
kmer bc -t 2 -m 7 -s 1k -o r/o.bc q.fa
kmer histo -o r/o.tsv --plot r/o.svg a.jf
kmer query -s t.fa -o r/o.tsv a.jf
kmer merge -o r/o.jf a.jf b.jf
kmer sketch -k 9 -o r/o.json q.fa
kmer dist -o r/o.tsv q.fa t.fa
qc --quiet -w 2 -i q.fq -o r/o.fq.gz -j r/o.json -h r/o.html
qc --quiet -w 2 -i q.fq -I m.fq -o r/1.fq -O r/2.fq --failed_out r/3.fq -j r/o.json -h r/o.html --part r/o.part
qc-merge 1.part -j r/o.json -h r/o.html
gather q.fa t.fa -o r/o.txt
gather part.npy other.npy -o r/o.npy
infer embed $infer --model $models/esm2_head16 p.fa -o r/o.npy --json r/o.json
infer embed $infer --model $models/protbert_head16 p.fa -o r/o.h5
infer score $infer --model $models/esm2_head16 p.fa -o r/o.tsv.gz
infer design $infer --model mpnn $models/proteinmpnn/edited.pdb -o r/o.fa --save-probs r/o.npz
infer energy $infer --model $models/tensornet/o3 one.extxyz -o r/o.extxyz
infer md $infer --model $models/tensornet/o3 --steps 2 --timestep 0.1 one.extxyz -o r/o.extxyz --table r/o.tsv
infer relax $infer --model $models/tensornet/o3 --steps 2 one.extxyz -o r/o.extxyz --table r/o.tsv
infer trunk $infer --model $models/pairformer_tiny trunk.npz -o r/o.npz --json r/o.json
${recognize:+$recognize -o r/o.tsv --json-lines r/o.jsonl --svg r}
${affinity:+$affinity -o r/o.tsv --json r/o.json}
lab run --device cpu -t 2 --quick --shapes 9x16 triangle-product-out --json r/o.json --plot r/times.svg
infer variants $infer --model $models/enformer_tiny --genome genome.fa --head human variants.vcf -o r/o.tsv
infer variants $infer --model $models/enformer_tiny --genome genome.fa --head human variants.vcf -o r/o.vcf.gz
infer tracks $infer --model $models/enformer_tiny --genome genome.fa --regions r.bed --head human --tracks 0 -o r/o.npy
infer tracks $infer --model $models/enformer_tiny --genome genome.fa --regions r.bed --head human --tracks 0 -o r/o.bedgraph
infer mutagenesis $infer --model $models/enformer_tiny --genome genome.fa --head human --region chr1:1041-1048 -o r/o.npz --max r/m.bedgraph
E2
check "faults were injected" [ "$n_faults" -gt 900 ]
echo "$n_faults faults"
finish
