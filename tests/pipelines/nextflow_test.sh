#!/usr/bin/env bash
# The Nextflow modules: what can be told of them without Nextflow, and with it a run of each stub.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

nextflow=$source_dir/scripts/pipelines/nextflow
check "modules are written" python3 "$nextflow/make_modules.py" "$biogpu" modules
last_command=check_modules.py
python3 "$nextflow/check_modules.py" "$biogpu" modules >out.txt 2>err.txt
rc=$?
check "every module" rc_is 0
check "there are modules" out_has '^2[0-9] of'
version=$("$biogpu" --version | sed -n '1s/biogpu //p')
check "the modules name this version" bash -c "! grep -rL 'biogpu=$version' modules --include=environment.yml | grep -q ."

# The check itself finds what is wrong.
cp -r modules copy
broken() { # DESCRIPTION SED FILE PATTERN
  sed -i "$2" "copy/$3"
  python3 "$nextflow/check_modules.py" "$biogpu" copy >out.txt 2>err.txt
  rc=$?
  check "$1: exit code" rc_is 1
  check "$1" out_has "$4"
  cp "modules/$3" "copy/$3"
}
broken "an option that is none" 's/--kmer-len\|--mer-len/--merlen/' kmer/count/main.nf 'kmer/count: .*no option --merlen'
broken "a name that is not set" 's/{shard_option}/{shard_optoin}/' qc/main.nf 'qc: script: shard_optoin is not set'
broken "a brace too few" '/^}/d' qc/main.nf 'qc: .*is not closed'
broken "a string without an end" "s/label 'process_medium'/label 'process_medium/" qc/main.nf 'qc: a string does not end'
broken "an output that is not described" 's/emit: json/emit: jsn/' qc/main.nf 'qc: meta.yml: outputs'

if command -v nextflow >/dev/null; then
  export NXF_HOME=$work/nxf NXF_OFFLINE=true
  for main in $(find "$work/modules" -name main.nf | sort); do
    last_command="nextflow $main"
    printf 'include { %s } from "%s"\nworkflow { }\n' \
      "$(sed -n 's/^process \([A-Z_]*\) .*/\1/p' "$main")" "${main%.nf}" >include.nf
    nextflow -q run include.nf -stub >out.txt 2>err.txt
    rc=$?
    check "$main" rc_is 0
  done
else
  echo "SKIPPED: no nextflow here, so that no module was run"
fi
finish
