#!/usr/bin/env bash
# Numbers of options: every numeric option that Jellyfish has is read as Jellyfish reads it, those of
# sketch and dist as Mash does.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

write_random 5 60 90 ACGT r >r.fa
cat r.fa r.fa r.fa | awk -v OFS='\n' '/^>/ { name = substr($0, 2); next } {
  quality = $0; gsub(/[AC]/, "J", quality); gsub(/[GT]/, "P", quality); print "@" name, $0, "+", quality }' >r.fq
cp r.fa more.fa
awk 'NR <= 60' r.fa >>more.fa
printf 'cat r.fa\n' >commands.txt
works kmer count -q -m 6 -s 64 -o db.jf more.fa r.fq

# result_of VALUE: what the command in $words does with VALUE for @.
result_of() {
  rm -f made.*
  run kmer "${words[@]//@/$1}"
  cp out.txt result.txt
  [ "$rc" -eq 0 ] || return
  local made
  for made in made.jf made.bc; do
    [ -e $made ] || continue
    # The header without the command line, then what follows it.
    head -c $((9 + 10#$(head -c 9 $made))) $made | tr ',' '\n' | grep -a 'max_reprobe\|"size"\|counter_len\|key_len' >>result.txt
    tail -c +$((10 + 10#$(head -c 9 $made))) $made >>result.txt
  done
}

# check_option DECIMAL OCTAL HEX COMMAND...: @ stands for the number.
check_option() {
  local decimal=$1 octal=$2 hex=$3 text
  shift 3
  words=("$@")
  result_of "$decimal"
  check "$* takes $decimal" rc_is 0
  cp result.txt expected.txt
  for text in "$octal" "$hex" "+$decimal" " $decimal"; do
    result_of "$text"
    check "$*: '$text' is $decimal" same_files result.txt expected.txt
  done
  for text in 08 -1 +-1 5.0 1e3 '' "$decimal " 0x 0xG 99999999999999999999 1kk 1K; do
    result_of "$text"
    check "$*: '$text' is refused" rc_is 2
    check "one error line" one_error_line
  done
}

count=(count -q --device cpu -o made.jf)
check_option 9 011 0x9 "${count[@]}" -m @ r.fa
check_option 10 012 0xa "${count[@]}" -m 6 -s @ r.fa
check_option 10 012 0xA "${count[@]}" -m 6 -t @ r.fa
check_option 10 012 0xA "${count[@]}" -m 6 -c @ r.fa
check_option 12 014 0XC "${count[@]}" -m 6 -s 1k -p @ r.fa
check_option 2 02 0x2 "${count[@]}" -m 6 --out-counter-len @ r.fa
check_option 10 012 0xa "${count[@]}" -m 3 -L @ r.fa
check_option 10 012 0xa "${count[@]}" -m 3 -U @ r.fa
check_option 12 014 0xC "${count[@]}" -m 3 --min-quality @ r.fq
check_option 75 0113 0x4B "${count[@]}" -m 3 --min-quality 1 --quality-start @ r.fq
check_option 10 012 0xa "${count[@]}" -m 3 -F @ r.fa
check_option 10 012 0xa "${count[@]}" -m 3 -G @ -g commands.txt
check_option 10 012 0xa "${count[@]}" -m 3 --bf-size @ r.fa
bc=(bc -o made.bc --no-provenance)
check_option 10 012 0xa "${bc[@]}" -s 1k -m @ r.fa
check_option 90 0132 0x5a "${bc[@]}" -m 5 -s @ r.fa
check_option 10 012 0xa "${bc[@]}" -m 5 -s 1k -t @ r.fa
check_option 10 012 0xa "${bc[@]}" -m 5 -s 1k -F @ r.fa
check_option 10 012 0xa "${bc[@]}" -m 5 -s 1k -G @ -g commands.txt
check_option 10 012 0xa histo -l @ db.jf
check_option 10 012 0xa histo -h @ db.jf
check_option 3 03 0x3 histo -i @ db.jf
check_option 3 03 0x3 histo -t @ db.jf
check_option 10 012 0xa query -t @ db.jf -s r.fa
for command in "dump -c" stats; do
  for option in -L -U; do
    # shellcheck disable=SC2086
    check_option 8 010 0x8 $command $option @ db.jf
  done
done
for command in merge "set filter"; do
  for option in -L -U; do
    # shellcheck disable=SC2086
    check_option 8 010 0x8 $command db.jf -o made.jf $option @
  done
done

# Sizes take one suffix, powers of 1000; no other number does.
words=("${count[@]}" -m 8 -s @ r.fa)
result_of 3000
cp result.txt expected.txt
for text in 3k 03k 0x3k; do
  result_of $text
  check "-s $text is 3000" same_files result.txt expected.txt
done
for option in -L -U -p -t -c -F; do
  fails 2 'expected a whole number' kmer "${count[@]}" -m 4 $option 1k r.fa
done
fails 2 "'20E'; expected a number with k, M" kmer "${count[@]}" -m 4 -s 20E r.fa

# Mash's numbers are decimal.
for option in -k -s -S -t; do
  works kmer sketch $option 7 r.fa
  cp out.txt expected.txt
  for text in 07 +7 +007; do
    works kmer sketch $option $text r.fa
    check "sketch $option $text is 7" same_files out.txt expected.txt
  done
  works kmer dist $option 07 r.fa r.fq
  for text in 0x7 ++7 +-7 + -1 7.0 '' 99999999999999999999; do
    fails 2 'expected a whole number' kmer sketch $option "$text" r.fa
    fails 2 'expected a whole number' kmer dist $option "$text" r.fa r.fq
  done
done

# A quality symbol is one character.
for symbol in '' JK; do fails 2 'expected one character' kmer "${count[@]}" -m 4 -Q "$symbol" r.fq; done

if command -v jellyfish >/dev/null; then
  # As Jellyfish: taken or refused, option by option.
  for text in 5 010 0x10 0X1f 08 -1 +5 ' 5' '5 ' '' 1k 1kk 1K 1m 5.0 1e3 99999999999999999999 0b11; do
    for options in "count -m 3 -s 1k -L" "count -m 3 -s 1k -U" "count -m 3 -s 1k -p" "count -m 3 -s" "count -m 3 -s 1k -t" \
      "count -m 3 -s 1k -F" "count -m 3 -s 1k -c" "count -m 3 --bf-size 9 -s" "bc -m 3 -s" "bc -s 1k -m" "count -s 1k -m"; do
      read -ra words <<<"$options"
      jellyfish "${words[@]}" "$text" -o jf.out r.fa >/dev/null 2>&1
      theirs=$((! !$?))
      run kmer "${words[@]}" "$text" -o our.out r.fa
      check "$options '$text' as Jellyfish ($theirs)" [ $((! !rc)) -eq $theirs ]
    done
  done
fi

finish
