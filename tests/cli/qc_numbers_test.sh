#!/usr/bin/env bash
# Numbers on the command line of `biogpu qc`: every option that takes one reads it by fastp's rule,
# and of several the last. Where fastp 0.23.2 is installed, it takes and refuses the same.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# 300 pairs of 20 to 100 bases with tails, N and low qualities, so that every number below matters.
awk 'function draw(limit) { state = state * 16807 % 2147483647; return int(state / 256) % limit }
  BEGIN {
    state = 91
    for (i = 0; i < 300; ++i) {
      text = other = ""
      for (j = 20 + draw(100); j > 0; --j) text = text substr("ACGTACGTN", 1 + draw(i % 9 == 0 ? 9 : 8), 1)
      if (i % 7 == 0) for (j = draw(30); j > 0; --j) text = text substr("GA", 1 + i % 2, 1)
      for (j = length(text); j > 0; --j) other = other substr("TGCAN", index("ACGTN", substr(text, j, 1)), 1)
      split(text " " other, mates, " ")
      for (mate = 1; mate <= 2; ++mate) {
        read = substr(mates[mate], 1, 100)
        quality = ""
        for (j = length(read); j > 0; --j) quality = quality substr("#+-5:DI", 1 + (draw(5) ? 2 + draw(5) : draw(7)), 1)
        printf "@p%d %d:N:0:ACGTAC\n%s\n+\n%s\n", i, mate, read, quality >("r" mate ".fq")
      }
    }
  }'
printf 'ACGTAA\n' >index.txt

# result FOLDER OPTIONS...: what a run with these options finds and writes, in this folder.
result() {
  local folder=$1
  shift
  rm -rf "$folder"
  mkdir "$folder"
  run qc --quiet -i r1.fq -I r2.fq -o "$folder/o1.fq" -O "$folder/o2.fq" -j "$folder/q.json" -h "$folder/q.html" "$@"
  [ ! -e "$folder/q.json" ] || sed -i '/"command"/d' "$folder/q.json"
  rm -f "$folder/q.html"
}

fastp=$(command -v fastp)
{ [ -n "$fastp" ] && fastp --version 2>&1 | grep -q '0\.23\.2$'; } || fastp=
# shellcheck disable=SC2317  # called through check
fastp_agrees() {
  "$fastp" --dont_eval_duplication -i r1.fq -I r2.fq -o f1.fq -O f2.fq -j f.json -h f.html "$@" >fastp.txt 2>&1
  [ $((rc == 0)) -eq $(($? == 0)) ]
}

# The option, a number that is another one in octal, where there is one, and what the option needs to matter. Last: ours alone.
n_options=0
while read -r option value needs; do
  n_options=$((n_options + 1))
  read -ra needed <<<"$needs"
  case $option in --dimer_max_len | --batch) other= ;; *) other=$fastp ;; esac
  result plain ${needed[@]+"${needed[@]}"} "$option" "$value"
  check "$option $value" rc_is 0
  for form in "0$value" "+$value" " $value" $'\t'"+00$value"; do
    result form ${needed[@]+"${needed[@]}"} "$option" "$form"
    check "$option '$form'" rc_is 0
    check "$option '$form' is $value" diff -r plain form
    [ -z "$other" ] || check "fastp takes $option '$form'" fastp_agrees ${needed[@]+"${needed[@]}"} "$option" "$form"
  done
  for form in "0x$value" "${value}a" "$value.0" "$value " "++$value" "+-$value" "" 99999999999999999999; do
    result form ${needed[@]+"${needed[@]}"} "$option" "$form"
    check "$option '$form'" rc_is 2
    check "one line about $option '$form'" one_error_line
    check "the option is named" err_has "$option"
    [ -z "$other" ] || check "fastp refuses $option '$form'" fastp_agrees ${needed[@]+"${needed[@]}"} "$option" "$form"
  done
  result plain ${needed[@]+"${needed[@]}"} "$option" "$value"
  result form ${needed[@]+"${needed[@]}"} "$option" 1 "$option" "$value"
  check "$option 1 $option $value is the last" diff -r plain form
  dashed=${option//_/-}
  [ "$dashed" != "--${option#--}" ] || continue
  result form ${needed[@]+"${needed[@]}"} "$dashed" 1 "$option" "$value"
  check "$dashed 1 $option $value is the last" diff -r plain form
  result form ${needed[@]+"${needed[@]}"} "$option" 1 "$dashed" "$value"
  check "$option 1 $dashed $value is the last" diff -r plain form
done <<'OPTIONS'
--compression 7
--reads_to_process 120
--trim_front1 12
--trim_tail1 13
--max_len1 62
--trim_front2 14
--trim_tail2 15
--max_len2 63
--poly_g_min_len 12 -g
--poly_x_min_len 13 -x
--cut_window_size 11 -5
--cut_mean_quality 25 -3
--cut_front_window_size 12 -5
--cut_front_mean_quality 24 -5
--cut_tail_window_size 13 -3
--cut_tail_mean_quality 26 -3
--cut_right_window_size 14 -r
--cut_right_mean_quality 21 -r
--qualified_quality_phred 21
--unqualified_percent_limit 23
--n_base_limit 10
--average_qual 25
--length_required 44
--length_limit 77
--complexity_threshold 74 -y
--filter_by_index_threshold 1 --filter_by_index1 index.txt
--overlap_len_require 45 -c
--overlap_diff_limit 10 -c
--overlap_diff_percent_limit 12 -c
--umi_len 12 -U --umi_loc read1
--umi_skip 11 -U --umi_loc read1 --umi_len 5
--dup_calc_accuracy 2
--overrepresentation_sampling 12 -p
--split 3
--split_by_lines 1200
--split_prefix_digits 6 --split 2
--thread 2
--dimer_max_len 12
--batch 2000
OPTIONS
check "every option with a number was looked at" \
  [ "$n_options" -eq "$("$biogpu" qc --help | grep -c -- '--[a-z0-9_]* \(N\|Q\|%\)\( \|$\)')" ]

finish
