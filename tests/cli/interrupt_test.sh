#!/usr/bin/env bash
# Signals, SIGKILL and limits of size: outputs that go together have all their names or none, and no
# temporary file stays. BIOGPU_FAULT_SHIM makes naming slow and can hide unnamed files.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/outputs.sh
. "$source_dir/tests/cli/outputs.sh"
write_random 6 40 400 ACGT r >reads.fa
awk '/^>/ { sub(">", "@"); print; next } { q = $0; gsub(/./, "I", q); print $0 "\n+\n" q }' reads.fa >reads.fq
cp reads.fq mates.fq
works bwt index -q reads.fa -p g
works kmer count -q -m 11 -o counts.jf reads.fa
model=$source_dir/tests/data/models/esm2_head16
python3 "$source_dir/tests/support/write_npz.py" "$source_dir/tests/data/models/pairformer_tiny/expected.safetensors" trunk.npz \
  z=full/z s=full/s || exit 1
printf '>p\nMKTLLEFGHIKL\n' >protein.fa

# A limit of size is an error like a full disk.
limited() {
  last_command="biogpu $* with a limit of 1 KiB"
  rm -rf results && mkdir results
  (ulimit -f 1 && exec "$biogpu" "$@") >out.txt 2>err.txt
  rc=$?
  check "size limit: exit code 1" rc_is 1
  check "size limit: one error line" one_error_line
  check "size limit: the reason" err_has 'File too large'
  check "size limit: nothing is left" nothing_left
}
limited bwt index -q reads.fa -p results/g
limited bwt index -q --format bwa reads.fa -p results/g
limited bwt locate -q -x g reads.fa -o results/places.sam
limited bwt transform -q reads.fa -o results/t
limited kmer count -q -m 11 -o results/counts.jf reads.fa
limited kmer dump counts.jf -o results/counts.txt
limited align -q --mode sw --self reads.fa -o results/rows.tsv
limited align -q --mode sw --self reads.fa -o results/rows.bam
limited qc -i reads.fq -o results/o.fq -j results/q.json -h results/q.html
limited infer embed -q --model "$model" protein.fa reads.fa -o results/rows.npy
limited infer embed -q --model "$model" protein.fa reads.fa -o results/rows.safetensors
cp reads.fa more.fa
limited gather reads.fa more.fa -o results/all.fa

# The commands of `kmer count -g` end with the program, and so does what they started.
printf 'echo $$ >pid1; sleep 300\nsh -c "echo \\$\\$ >pid2; sleep 301" | cat\n' >sleepers
for signal in TERM HUP; do
  rm -f pid1 pid2
  "$biogpu" kmer count -q -m 9 -S /bin/sh -g sleepers -G 2 -o results/k.jf >out.txt 2>err.txt &
  pid=$!
  for _ in $(seq 200); do
    [ -s pid1 ] && [ -s pid2 ] && break
    sleep 0.05
  done
  kill -$signal $pid
  wait $pid
  # shellcheck disable=SC2016  # the inner shell expands
  check "$signal: the commands ended" bash -c 'for _ in $(seq 100); do
    kill -0 "$(cat pid1)" 2>/dev/null || kill -0 "$(cat pid2)" 2>/dev/null || exit 0; sleep 0.05; done; exit 1'
  check "$signal: nothing is left" nothing_left
done

# While it waits for more input: signals that ask for an end, whether files have names or not.
write_random 7 300000 10 ACGT q >many.fa
printf '>t\nACGTTGCATGCAAG\n' >target.fa
for named in 0 1; do
  if [ $named = 1 ]; then
    [ -n "${BIOGPU_FAULT_SHIM:-}" ] || break
    export LD_PRELOAD=$BIOGPU_FAULT_SHIM BIOGPU_NAMED_FILES=1
  fi
  for signal in HUP XCPU QUIT TERM INT; do
    make_pipe pipe
    start align --mode sw - target.fa -o results/rows.tsv <pipe
    cat many.fa >&9
    results_begin
    interrupt $signal
  done
  make_pipe pipe
  start align --mode sw - target.fa -o results/rows.tsv <pipe
  cat many.fa >&9
  results_begin
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  exec 9>&-
  if [ $named = 0 ]; then
    check "SIGKILL leaves nothing where files need no name" nothing_left
  else
    check "SIGKILL leaves a file where they do" n_left_is 1
    # It goes with the next run, that of a process which is alive does not.
    make_pipe pipe
    start align --mode sw - target.fa -o results/slow.tsv <pipe 9>&- # so that it sees the end
    cat many.fa >&9
    results_begin
    check "the next run removes it" n_left_is 1
    "$biogpu" bwt stats g -o results/stats.txt
    check "a file in use stays" n_left_is 2
    exec 9>&-
    wait "$pid"
    rc=$?
    check "the run goes on to its end" rc_is 0
    check "both results have their names" n_left_is 2
    check "the rows are there" test -s results/slow.tsv
    rm -rf results && mkdir results
  fi
  unset LD_PRELOAD BIOGPU_NAMED_FILES
done

# Ligands, while the next one of standard input is waited for; blocks, while they are measured.
dualbind=$source_dir/tests/data/models/dualbind
run infer affinity -q --device cpu --model "$dualbind" --protein "$dualbind/protein.pdb" "$dualbind/ligands.sdf"
has_ligands=$rc
for signal in TERM INT; do
  start lab run -t 1 --device cpu --shapes 256x128,512x128,1024x128 triangle-product-out --json results/lab.json
  for _ in $(seq 200); do
    [ "$(readlink "/proc/$pid/exe")" = "$biogpu" ] && break
    sleep 0.05
  done
  interrupt $signal
  [ "$has_ligands" = 0 ] || continue # a build without RDKit
  make_pipe pipe
  start infer affinity -q --device cpu --batch 4 --model "$dualbind" --protein "$dualbind/protein.pdb" - -o results/rows.tsv <pipe
  cat "$dualbind/ligands.sdf" >&9
  results_begin
  interrupt $signal
done

# Ended while the outputs get their names, one after the other: all of them, then the end.
# named N ARGUMENTS...: the run writes N files into results.
named() {
  local n=$1 old
  shift
  for old in '' old; do
    rm -rf results && mkdir results
    # Names that are there already are replaced, which takes other calls.
    [ -n "$old" ] && "$biogpu" "$@" >/dev/null 2>&1
    find results -type f -exec sh -c 'echo old >"$1"' _ {} \;
    last_command="biogpu $*, ended between the names"
    LD_PRELOAD=$BIOGPU_FAULT_SHIM BIOGPU_SLOW_NAMES=200 "$biogpu" "$@" >out.txt 2>err.txt &
    pid=$!
    for _ in $(seq 400); do
      [ -n "$(find results -type f ! -name '.*' -exec grep -Lx old {} +)" ] && break
      sleep 0.02
    done
    kill -TERM $pid
    wait $pid
    rc=$?
    check "ended between the names: exit code" rc_is 143
    check "ended between the names: all are there" n_left_is "$n"
    check "ended between the names: all are new" [ -z "$(grep -lx old results/*)" ]
  done
}
if [ -n "${BIOGPU_FAULT_SHIM:-}" ]; then
  named 6 bwt index -q --format bwa reads.fa -p results/g --json results/run.json
  named 2 bwt index -q reads.fa -p results/g --json results/run.json
  named 2 bwt locate -q -x g reads.fa -o results/places.sam --json results/run.json
  named 2 bwt transform -q reads.fa -o results/t --json results/run.json
  named 2 align -q --mode sw --self reads.fa -o results/rows.tsv --json results/run.json
  named 3 kmer count -q -m 11 -o results/c.jf --timing results/t.txt --json results/run.json reads.fa
  named 2 kmer histo counts.jf -o results/h.txt --plot results/h.svg
  named 4 qc -i reads.fq -I mates.fq -o results/1.fq -O results/2.fq -j results/q.json -h results/q.html
  named 2 infer trunk -q --device cpu --model "$source_dir/tests/data/models/pairformer_tiny" trunk.npz -o results/o.npz --json results/run.json
  named 3 infer embed -q --model "$model" protein.fa -o results/rows.npy --json results/run.json
fi
finish
