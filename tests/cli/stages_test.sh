#!/usr/bin/env bash
# The stages that -v prints and --json lists, of every command that has them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 5 2000 90 ACGT q | awk '/^>/ { print "@" substr($0, 2); next }
  { print; print "+"; gsub(/./, "I"); print }' >reads.fq
cp reads.fq other.fq
write_random 6 3 2000 ACGT t >genome.fa
write_random 7 40 90 ACGT s >some.fa
works bwt index -q genome.fa -p g
works bwt index -q --format bwa genome.fa -p g

heading='[]] stage  *threads  *wall s  *busy s  *wait s  *MB  *MB/s  *waits for$'
# stages_of ROWS ARGUMENTS...: the run prints these stages in this order behind that of the process, and --json
# has the same.
stages_of() {
  local expected="start/process $1"
  shift
  works "$@"
  check "no stages without -v: $*" bash -c '! grep -q "wall s" err.txt'
  if [ "$1" = qc ]; then  # --json is fastp's report
    works "$@" -V
  else
    works "$@" -v --json run.json
    python3 -c 'import json
for stage in json.load(open("run.json"))["stages"]:
    assert stage["threads"] >= 0 and min(stage[key] for key in ("wall_s", "busy_s", "wait_s", "bytes")) >= 0, stage
    print(stage["name"])' >json.txt
    check "stages of JSON: $*" same_files json.txt <(tr ' ' '\n' <<<"$expected")
  fi
  check "a heading: $*" err_has "$heading"
  awk -v heading="$heading" 'after && /\] [^ ]+ +[0-9]+ +[0-9.-]+ +[0-9.-]+ +[0-9.-]+ / { sub(/.*\] /, ""); print $1 }
    $0 ~ heading { after = 1 }' err.txt >log.txt
  check "stages of the log: $*" same_files log.txt <(tr ' ' '\n' <<<"$expected")
}

align="start start/first-blocks start/device read compute compute/encode compute/select compute/align compute/format write"
stages_of "$align" align --device cpu --mode sw some.fa genome.fa -o rows.tsv
stages_of "$align" align --device cpu --mode sw --pairs some.fa some.fa -o rows.tsv
stages_of "start read scan count sort write" kmer count --device cpu -m 9 -o k.jf reads.fq some.fa
stages_of "read device build write" bwt index --device cpu genome.fa -p own
stages_of "read device sort transform write" bwt index --device cpu --format bwa genome.fa -p own
stages_of "read sort write" bwt transform --device cpu some.fa -o some.bwt
for command in count locate; do
  stages_of "start start/device read search write" bwt $command --device cpu -x g reads.fq -o found.txt
done
stages_of "start read search write" bwt smem --device cpu -x g reads.fq -o found.txt
stages_of "prepare read read/files compute compute/write write report commit" qc --device cpu -w 2 -i reads.fq -o clean.fq -j q.json -h q.html
stages_of "prepare read read/files compute compute/write write report commit" \
  qc --device cpu -w 8 -i reads.fq -I other.fq -o clean.fq -O clean2.fq -j q.json -h q.html
stages_of "prepare read read/files compute write write/files report commit" \
  qc --device cpu -w 8 -i reads.fq -o /dev/null -j q.json -h q.html
proteins=$source_dir/tests/data/models/proteins.fa
stages_of "load read compute write" infer embed --device cpu --model "$source_dir/tests/data/models/esm2_head16" "$proteins" -o some.npz

# What is read and written is told in bytes.
works align --device cpu --mode sw --pairs some.fa some.fa -o rows.tsv --json run.json -q
check "bytes of the stages" python3 -c 'import json, os
stages = {stage["name"]: stage for stage in json.load(open("run.json"))["stages"]}
assert stages["read"]["bytes"] == 2 * os.path.getsize("some.fa"), stages["read"]
assert stages["write"]["bytes"] == os.path.getsize("rows.tsv"), stages["write"]
assert stages["read"]["waits_for"] == "free slots" and stages["write"]["waits_for"] == "results"'
works qc -V --device cpu -w 2 -i reads.fq -o clean.fq -j q.json -h q.html
check "megabytes of qc" err_has "read/files  *1  *[0-9.-]*  *[0-9.-]*  *[0-9.-]*  *$(awk -v n="$(stat -c %s reads.fq)" 'BEGIN { printf "%.1f", n / 1e6 }') "

if [ "$backend" = emulated ]; then
  opened="start/module start/driver start/contexts"
  stages_of "$opened ${align/ write/ device/kernels write}" \
    align --device gpu --mode sw --pairs some.fa some.fa -o rows.tsv
  stages_of "$opened start read scan count device/copy device/place device/sort device/runs fetch decode write" \
    kmer count --device gpu -m 9 -o k.jf reads.fq
  stages_of "$opened prepare read read/files compute compute/write write device/steps report commit" \
    qc --device gpu -w 2 -i reads.fq -o clean.fq -j q.json -h q.html
fi
finish
