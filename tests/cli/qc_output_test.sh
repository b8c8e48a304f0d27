#!/usr/bin/env bash
# Outputs of qc, qc-merge and gather that fail: a full disk, a closed pipe, an interruption. Nothing is left under
# a final name, and no temporary file, whether files have threads of their own (-w 8) or not.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/outputs.sh
. "$source_dir/tests/cli/outputs.sh"

python3 - <<'PYTHON'
import random
rng = random.Random(5)
for mate in (1, 2):
    with open(f"r{mate}.fq", "w") as file:
        for i in range(6000):
            bases = "".join(rng.choices("ACGT", k=100))
            file.write(f"@r{i} {mate}\n{bases}\n+\n{'I' * 100}\n")
PYTHON
for part in 1 2; do
  works qc --quiet -i r1.fq -o "$part.fq" -j whole.json -h whole.html --shard "$part/2" --part "$part.part"
done
head -36 r1.fq >nine.fq
: >empty.fq
ln -s /dev/full full.fq.gz
# refused ARGUMENTS...: a run whose disk is full.
refused() {
  fails 1 "No space left" "$@"
  check "full disk: nothing is left" nothing_left
}

if [ -w /dev/full ]; then
  for w in 2 8; do
    for suffix in fq fq.gz; do
      refused qc --quiet -w $w -i r1.fq -o /dev/full --failed_out "results/f.$suffix" -j results/q.json -h results/q.html
      refused qc --quiet -w $w -i r1.fq -I r2.fq -o "results/o1.$suffix" -O /dev/full -j results/q.json -h results/q.html
      refused qc --quiet -w $w -i r1.fq -I r2.fq -o "results/o1.$suffix" -O "results/o2.$suffix" -j /dev/full \
        -h results/q.html
      refused qc --quiet -w $w -i r1.fq -o "results/o.$suffix" --shard 1/2 --part /dev/full -j results/q.json \
        -h results/q.html
    done
  done
  # What is left to the end of a run: the ends of gzip files, parts without reads.
  for gzip in "" --bgzf; do
    # shellcheck disable=SC2086
    refused qc --quiet -i empty.fq -o full.fq.gz --failed_out results/f.fq.gz --shard 1/1 --part results/p.part \
      -j results/q.json -h results/q.html $gzip
  done
  refused qc --quiet -i nine.fq -o results/x.fq -s 30 -j results/q.json -h /dev/full
  refused qc-merge 1.part 2.part -j /dev/full -h results/q.html
  refused qc-merge 1.part 2.part -j results/q.json -h /dev/full
  refused gather --format lines -o /dev/full 1.fq 2.fq
fi

stderr_full results/o.fq qc -V -i r1.fq -o results/o.fq -j results/q.json -h results/q.html
rm -f results/q.json results/q.html

# A part that gets no reads, and whose name is taken by a folder; a name too long once it has a number.
mkdir results/0020.x.fq
fails 1 "0020.x.fq: cannot be written: Is a directory" qc --quiet -i nine.fq -o results/x.fq -s 30 \
  --shard 1/1 --part results/p.part -j results/q.json -h results/q.html
check "a part that fails: nothing is left" n_left_is 1
rmdir results/0020.x.fq
long=$(printf 'n%.0s' {1..252})
fails 1 "File name too long" qc --quiet -i nine.fq -o "results/$long" -s 3 -j results/q.json -h results/q.html
check "a long name: nothing is left" nothing_left

for w in 2 8; do
  last_command="biogpu qc --stdout | head"
  "$biogpu" qc --quiet -w $w -i r1.fq --stdout -j results/q.json -h results/q.html 2>err.txt | head -c 40 >out.txt
  rc=${PIPESTATUS[0]}
  check "closed pipe, reports to be written: exit code 1" rc_is 1
  check "closed pipe: one error line" one_error_line
  check "closed pipe: the line says why" err_has 'standard output: its reader closed it before the other outputs'
  check "closed pipe: the first line" out_has '^@r0 1$'
  check "closed pipe: nothing is left" nothing_left
done

# interrupted SIGNAL PIPE ARGUMENTS...: a run that writes to PIPE, which is held open and not read, or reads from it,
# and ends by a signal while it waits.
interrupted() {
  local signal=$1 pipe=$2
  shift 2
  make_pipe "$pipe"
  start "$@"
  results_begin
  interrupt "$signal"
}

for w in 2 8; do
  for signal in INT TERM; do
    interrupted $signal pipe.fq qc --quiet -w $w -i r1.fq -I r2.fq -o results/o1.fq -O pipe.fq \
      -j results/q.json -h results/q.html
  done
  interrupted INT pipe.fq qc --quiet -w $w -i r1.fq -o pipe.fq --shard 2/2 --part results/p.part -j results/q.json \
    -h results/q.html
  interrupted INT pipe.fq qc --quiet -w $w -i pipe.fq -o results/o.fq.gz -j results/q.json -h results/q.html
done
interrupted INT pipe.html qc-merge 1.part 2.part -j results/q.json -h pipe.html
interrupted INT pipe.txt gather --format lines -o results/all.fq 1.fq pipe.txt

# An old result stays until the new one is whole, and then goes.
echo old >results/o.fq
if [ -w /dev/full ]; then
  fails 1 "No space left" qc --quiet -i r1.fq -o results/o.fq -j /dev/full -h results/q.html
  check "the old file is untouched" grep -qx old results/o.fq
fi
works qc --quiet -w 8 -i r1.fq -o results/o.fq -j results/q.json -h results/q.html
check "the new file replaces it" n_lines_is results/o.fq 24000
check "and nothing else is there" n_left_is 3
finish
