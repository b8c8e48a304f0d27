#!/usr/bin/env bash
# Databases that lie about themselves, files that shrink while they are read, and memory that does
# not grow with one long record.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# jf_file JSON: a file that begins as Jellyfish's do.
jf_file() { printf '%09d%s' "${#1}" "$1"; }
# fails_on FILE PATTERN: every command that reads it.
fails_on() {
  local command
  for command in stats "dump -c" histo info "merge -o bad.jf" "set filter -o bad.bgk"; do
    # shellcheck disable=SC2086
    fails 3 "$1: .*$2" kmer $command "$1"
    check "no line of kilobytes" [ "$(wc -c <err.txt)" -lt 400 ]
  done
  check "nothing is left" absent bad.jf
  check "nothing is left" absent bad.bgk
}

jf_file '{"format":"binary/sorted","key_len":14,"size":1073741824,"matrix1":{"r":30,"c":14,"identity":true}}' >size.jf
head -c 48 /dev/zero >>size.jf
fails_on size.jf 'size is 1073741824; expected a power of two'
fails 3 'size.jf: ' kmer query size.jf ACGTACG
jf_file "{\"a\":$(printf '%200000s' '' | tr ' ' '[')" >deep.jf
fails_on deep.jf 'nested more than 64 deep'
jf_file '{"format":"binary/sorted","key_len":6,"size":8,"matrix1":{"r":3,"c":6,"columns":[1,2,4,4,2,8]}}' >columns.jf
fails_on columns.jf 'columns is'
jf_file "{\"format\":\"$(printf '%3000s' '' | tr ' ' f)\"}" >long.jf
fails_on long.jf 'fff\.\.\. (3000 bytes)'
jf_file '{"format":"binary/sorted","key_len":6,"size":8,"cmdline":7,"matrix1":{"r":3,"c":6,"identity":true}}' >command.jf
fails_on command.jf 'cmdline is 7; expected a list'

# A .bgk file with one byte of a count changed, and one with a block's head zeroed.
write_random 9 40 90 ACGT r >r.fa
works kmer count -q -m 13 -o r.bgk r.fa
change() { cp r.bgk "$1" && printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
change count.bgk 32 '\x07'
fails_on count.bgk 'checksum'
change head.bgk 16 '\0\0\0\0\0\0\0\0'
fails_on head.bgk 'damaged'
change trailer.bgk $(($(stat -c %s r.bgk) - 56)) '\x01'
fails_on trailer.bgk ''

# Bloom counters.
jf_file '{"format":"binary/sorted"}' >other.bc
fails 3 "other.bc: has the format 'binary/sorted'" kmer count -m 5 --bc other.bc -o bad.jf r.fa
jf_file '{"format":["bloomcounter"]}' >list.bc
fails 3 'list.bc: ' kmer count -m 5 --bc list.bc -o bad.jf r.fa
printf '990000000{"format":' >short.bc
last_command="biogpu kmer count --bc short.bc"
(
  limit_memory 1000000
  "$biogpu" kmer count --device cpu -t 1 -m 5 --bc short.bc -o bad.jf r.fa >out.txt 2>err.txt
)
rc=$?
check "a header's length asks for no memory" rc_is 3
check "and is told" err_has 'short.bc: a header of 990000000 bytes'

# A database that is cut while k-mers are looked up: an error, not a signal.
works kmer count -q -m 13 -s 100k -o big.jf "$source_dir/data/lambda.fa"
works kmer count -q -m 13 -o big.bgk "$source_dir/data/lambda.fa"
for name in big.jf big.bgk; do
  cp $name shrinks.db
  mkfifo keys
  "$biogpu" kmer query -i shrinks.db <keys >out.txt 2>err.txt &
  query=$!
  exec 7>keys
  echo AAAAAAAAAAAAA >&7
  for _ in $(seq 100); do
    [ -s out.txt ] && break
    sleep 0.05
  done
  truncate -s 100 shrinks.db
  echo ACGTACGTACGTA >&7
  exec 7>&-
  wait $query
  rc=$?
  check "$name: exit code 1" rc_is 1
  check "$name: one error line" one_error_line
  check "$name: that says why" err_has 'shrinks.db: became shorter while it was read'
  rm keys
done

# Memory does not depend on the length of a record. On the CPU: the emulated GPU has its memory in the process.
awk 'BEGIN { srand(4); print ">long"; for (i = 0; i < 400000; ++i) { line = ""
  for (j = 0; j < 12; ++j) line = line substr("ACGTTGCATTGACCGTAGGACT", 1 + int(rand() * 12), 8); print line } }' >long.fa
works_within() { # KIB ARGUMENTS...: ends well with a peak of memory below that
  local most=$1 peak
  shift
  last_command="biogpu $*"
  peak=$(/usr/bin/env python3 -c 'import resource, subprocess, sys
rc = subprocess.run(sys.argv[1:], stdout=open("out.txt", "w"), stderr=open("err.txt", "w")).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(rc)' "$biogpu" "$@")
  rc=$?
  check "exit 0" rc_is 0
  is_sanitized || check "peak of memory: $peak KiB" [ "$peak" -lt "$most" ]
}
works_within 60000 kmer sketch -o s.json long.fa
works_within 110000 kmer count -q --device cpu -t 1 --max-memory 16M -m 9 -o c.jf long.fa
# One k-mer many million times is one entry of a table.
{ echo '>t' && head -c 24000000 /dev/zero | tr '\0' T && echo; } >poly.fa
works_within 60000 kmer count -q --device cpu -t 1 --max-memory 16M -m 17 -o c.jf poly.fa
works kmer dump -c c.jf
check "its count" out_is 'TTTTTTTTTTTTTTTTT 23999984\n'

# The same in pieces as whole.
tr -d '\n' <long.fa | sed 's/^>long/>long\n/' | head -c 9000000 >one.fa
awk 'NR > 1' one.fa | tr -d '\n' >letters
check "a long record" [ "$(wc -c <letters)" -gt 8999000 ]
works kmer count -q -m 31 -o whole.jf one.fa
works kmer stats whole.jf
check "every window once" out_has "^Total:  *$(($(wc -c <letters) - 30))$"
works kmer query -s one.fa whole.jf
check "query too" n_lines_is out.txt $(($(wc -c <letters) - 30))
works kmer sketch one.fa
check "the length of a sketch" out_has "\"length\":$(wc -c <letters),"

finish
