#!/usr/bin/env bash
# --progress in every command that has it, and what stands on a terminal after Ctrl-C.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 5 3000 90 ACGT q | awk '/^>/ { print "@" substr($0, 2); next }
  { print; print "+"; gsub(/./, "I"); print }' >reads.fq
write_random 6 3 2000 ACGT t >genome.fa
write_random 7 40 90 ACGT s >some.fa
works bwt index -q genome.fa -p g
works bwt index -q --format bwa genome.fa -p g
works bwt transform -q some.fa -o some.bwt

# Without a terminal 'always' writes lines, and they name the command; 'never' and 'auto' write none.
told='100%, [0-9]* \(sequences\|reads\|queries\), 0:00 left\|reading\|sorting the suffixes'
for words in "kmer count -m 9 -o k.jf reads.fq some.fa" "bwt index genome.fa -p own" \
  "bwt index --format bwa genome.fa -p own" "bwt count -x g some.fa" "bwt locate -x g some.fa" "bwt smem -x g some.fa" \
  "bwt stats g" "bwt extract -x g t1" "bwt transform some.fa -o x.bwt" "bwt inverse some.bwt -o x.fa" \
  "qc -i reads.fq -o clean.fq -j q.json -h q.html"; do
  read -ra split <<<"$words"
  name=${split[0]}
  [ "$name" = qc ] || name="$name ${split[1]}"
  works "${split[@]}" --progress always
  check "progress of $name" err_has "^\\[biogpu $name [0-9.]*s\\] \\($told\\)"
  for when in never auto; do
    works "${split[@]}" --progress $when
    check "no progress of $name with $when" bash -c "! grep -q '] \\($told\\)' err.txt"
  done
done

# On a terminal one line is redrawn. Interrupted, the program ends it, so that the shell's prompt stands below;
# a message of the program takes its place.
cat >on_terminal.py <<'TEXT'
import os, pty, select, signal, subprocess, sys, time

def read(master, seconds):
    """What the terminal shows within a time, or until the program is gone."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and select.select([master], [], [], max(0, end - time.monotonic()))[0]:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    return text

name, how, command = sys.argv[1], sys.argv[2], sys.argv[3:]
master, slave = pty.openpty()
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave)
os.close(slave)
record = b"@r\n" + b"ACGTTGCA" * 12 + b"\n+\n" + b"I" * 96 + b"\n"
begin = f"\r\x1b[K[biogpu {name} ".encode()
shown, end = b"", time.monotonic() + 100
while begin not in shown and time.monotonic() < end:
    process.stdin.write(record * 20000)
    process.stdin.flush()
    shown += read(master, 0.3)
assert begin in shown, f"no line of progress: {shown!r}"
if how == "interrupt":
    process.send_signal(signal.SIGINT)
else:
    process.stdin.write(b"no record\n")
process.stdin.close()
shown += read(master, 60)
status = process.wait()
last = shown[shown.rindex(begin):]
if how == "interrupt":
    assert status in (130, -signal.SIGINT), status
    assert last.endswith(b"\r\n") and last.count(b"\r\n") == 1, f"what follows would stand behind {last!r}"
else:
    assert status == 3, status
    assert b"\r\x1b[Kbiogpu " in last and last.endswith(b"\r\n"), f"the message stands behind {last!r}"
TEXT
if python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
  for how in interrupt damage; do
    for words in "kmer count -m 9 -o k.jf -" "bwt count -x g - -o c.tsv" "bwt smem -x g - -o m.txt" \
      "qc --stdin -o clean.fq -j q.json -h q.html"; do
      read -ra split <<<"$words"
      name=${split[0]}
      [ "$name" = qc ] || name="$name ${split[1]}"
      last_command="on a terminal, $how: biogpu $words"
      python3 on_terminal.py "$name" $how "$biogpu" "${split[@]}" >out.txt 2>err.txt
      rc=$?
      check "a line that is redrawn and ends" rc_is 0
    done
  done
else
  echo "SKIPPED: no terminal can be opened here"
fi

finish
