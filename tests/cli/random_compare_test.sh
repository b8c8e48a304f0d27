#!/usr/bin/env bash
# biogpu beside the original tools on random inputs and options, forty runs of each tool that is installed; and that
# these comparisons find a wrong byte, a lost file and a wrong status, and repeat a run by its number.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
compare=$source_dir/scripts/compare/random

# random OPTION...: leaves out.txt, err.txt and rc.
random() {
  last_command="scripts/compare/random $*"
  python3 -B "$compare" "$@" >out.txt 2>err.txt
  rc=$?
}

random --quick --biogpu "$biogpu" --json summary.json
check "no difference but those documented" rc_is 0
check "a summary" python3 -c 'import json; assert all(t["runs"] == 40 for t in json.load(open("summary.json"))["targets"].values())'

random --runs 1 --biogpu "$biogpu" nothing
check "an unknown target" rc_is 2
random --runs 1 --biogpu "$work/nothing"
check "no program" rc_is 1
PATH=/nowhere "$(python3 -c 'import sys; print(sys.executable)')" -B "$compare" --runs 1 --biogpu "$biogpu" bwa fastp >out.txt 2>err.txt
rc=$?
check "no peer" rc_is 77

# Programs that are wrong in one way each: the comparison has to say so.
if command -v jellyfish >/dev/null; then
  wrong() { # NAME COMMAND...: what happens behind the real program
    printf '#!/usr/bin/env bash\n"%s" "$@"\nrc=$?\n%s\n' "$biogpu" "$2" >"$1"
    chmod +x "$1"
    random --runs 12 --biogpu "$work/$1" jellyfish
    check "$1 is found" rc_is 1
    check "$1: the run is named" out_has '^DIFFERENT jellyfish: --seed 1 --first [0-9]* --runs 1$'
  }
  # shellcheck disable=SC2016  # for the script that is written
  {
    wrong other_byte '[ ! -e ours.jf ] || printf "\001" | dd of=ours.jf bs=1 seek=$(($(stat -c %s ours.jf) - 1)) conv=notrunc 2>/dev/null; exit $rc'
    wrong lost_file 'rm -f ours.jf; exit $rc'
    wrong wrong_status 'exit 3'
    wrong crash 'kill -SEGV $$'
  }
  number=$(sed -n 's/^DIFFERENT.*--first \([0-9]*\).*/\1/p' out.txt | head -1)
  grep -A1 "^DIFFERENT.*--first $number " out.txt | tail -1 >first.txt
  random --runs 1 --first "$number" --biogpu "$work/crash" jellyfish
  check "a run by its number" rc_is 1
  check "it is the same run" grep -qFf first.txt out.txt
fi

finish
