# Helpers of the command-line tests. Source it first: it reads the script's arguments
# (binary, source folder, GPU backend), makes a folder for the test and removes it at the end.
# shellcheck shell=bash
set -u
biogpu=$(realpath "$1")
[ -x "$biogpu" ] || exit 1
# shellcheck disable=SC2034  # used by the scripts that source this file
source_dir=$(realpath "$2")
# shellcheck disable=SC2034
backend=$3
unset BIOGPU_THREADS BIOGPU_DEVICE
work=$(mktemp -d)
# Rates that other runs left on this machine decide nothing here.
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_checks=0
n_failed=0

# A misspelt check must not pass for one that holds; called in a subshell, so the script is ended.
# shellcheck disable=SC2317  # called by bash
command_not_found_handle() {
  echo "FAILED: no command '$1'"
  kill -TERM $$
}

# check DESCRIPTION COMMAND...: one check; shows what the last run left when it fails.
check() {
  local description=$1
  shift
  n_checks=$((n_checks + 1))
  if ! "$@"; then
    n_failed=$((n_failed + 1))
    echo "FAILED: $description: $*"
    echo "  last run: ${last_command:-none} (exit ${rc:-none})"
    [ -s err.txt ] && sed 's/^/  stderr: /' err.txt
    [ -s out.txt ] && head -5 out.txt | sed 's/^/  stdout: /'
  fi
}

# run ARGUMENTS...: runs biogpu; leaves out.txt, err.txt and rc.
run() {
  last_command="biogpu $*"
  "$biogpu" "$@" >out.txt 2>err.txt
  rc=$?
}

rc_is() { [ "$rc" -eq "$1" ]; }
same_files() { cmp "$1" "$2"; }
# shellcheck disable=SC2059  # the expected text is a format on purpose: \t and \n
out_is() { printf "$@" | cmp - out.txt; }
out_has() { grep -q -- "$1" out.txt; }
err_has() { grep -q -- "$1" err.txt; }
err_is_empty() { [ ! -s err.txt ]; }
exists() { [ -e "$1" ]; }
absent() { [ ! -e "$1" ]; }
n_lines_is() { [ "$(wc -l <"$1")" -eq "$2" ]; }

# A sanitizer reserves terabytes of addresses and keeps what was freed: under it no limit is set, and peaks of
# memory say nothing.
is_sanitized() { grep -q __asan_init "$biogpu"; }
# limit_memory KIB: for a subshell that then runs the program.
limit_memory() { is_sanitized || ulimit -v "$1"; }

# The last line of stderr is the one error line.
one_error_line() {
  [ "$(grep -c '^biogpu' err.txt)" -eq 1 ] && [ "$(grep -c '^biogpu' <(tail -1 err.txt))" -eq 1 ]
}

# fails RC PATTERN ARGUMENTS...: the run ends with RC and one error line that matches PATTERN.
fails() {
  local code=$1 pattern=$2
  shift 2
  run "$@"
  check "exit code $code" rc_is "$code"
  check "one error line" one_error_line
  check "the error says '$pattern'" err_has "$pattern"
}

# works ARGUMENTS...: the run ends with 0 and no error line.
works() {
  run "$@"
  check "exit code 0" rc_is 0
  check "no error line" bash -c '! grep -q "^biogpu" err.txt'
}

# write_random SEED N LENGTH LETTERS NAME: N FASTA records of 1 to LENGTH letters on stdout.
write_random() {
  awk -v seed="$1" -v n="$2" -v length_="$3" -v letters="$4" -v name="$5" 'BEGIN {
    srand(seed)
    for (i = 1; i <= n; ++i) {
      printf ">%s%d\n", name, i
      size = 1 + int(rand() * length_)
      text = ""
      for (j = 0; j < size; ++j) text = text substr(letters, 1 + int(rand() * length(letters)), 1)
      print text
    }
  }'
}

# Two queries and two targets with scores known from Parasail (match 2, mismatch -3, gaps 5/2).
write_example() {
  printf '>q1 first\nACGTTGCTGCA\n>q2\nacguugcaNgca\n' >q.fa
  printf '>t1\nACGTTGCATGCA\n>t2\nTTGACGTTGAATGCAGG\n' >t.fa
}

finish() {
  echo "$((n_checks - n_failed)) of $n_checks checks passed"
  [ "$n_checks" -gt 0 ] && [ "$n_failed" -eq 0 ]
  exit
}
