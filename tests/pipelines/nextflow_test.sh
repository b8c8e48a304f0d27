#!/usr/bin/env bash
# The Nextflow modules: what can be told of them without Nextflow, their scripts and stubs run by bash, and with Nextflow
# a run of each stub.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

nextflow=$source_dir/scripts/pipelines/nextflow
check "modules are written" python3 "$nextflow/make_modules.py" "$biogpu" modules
last_command=check_modules.py
python3 "$nextflow/check_modules.py" "$biogpu" modules >out.txt 2>err.txt
rc=$?
check "every module" rc_is 0
check "there are modules" out_has '^39 of'
for command in $("$biogpu" completion bash | sed -n 's/^    "\([a-z].*\)")$/\1/p' | tr ' ' '+'); do
  case $command in
    bwt | kmer | infer | align+parasail | lab* | devices | cite | help | completion | man | version | infer+info | infer+models | infer+bench) continue ;;
  esac
  module=$(tr -d '+-' <<<"$command")
  check "a module of ${command/+/ }" exists "modules/$module/main.nf"
done
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
broken "an option that is none" 's/--mer-len/--merlen/' kmercount/main.nf 'kmercount: .*no option --merlen'
broken "an option in an expression" 's/--failed_out/--failed/' qc/main.nf 'qc: .*no option --failed'
broken "a command that is none" 's/biogpu align/biogpu aline/' align/main.nf "align: script: biogpu has no command 'aline'"
broken "a name that is not set" 's/{shard_option}/{shard_optoin}/' qc/main.nf 'qc: shard_optoin is not set'
broken "a key that nf-core does not know" 's/ext.prefix/ext.suffix/' align/main.nf 'align: ext.suffix'
broken "a label of its own" 's/process_high/process_gpu/' align/main.nf 'align: label'
broken "an image of another version" 's/biogpu:[0-9.]*-cpu/biogpu:9.9.9-cpu/' align/main.nf 'align: container: '
broken "a tool without an address or a DOI" '/doi:/d' align/meta.yml 'align: meta.yml: tools: biogpu needs'
broken "an address that is none" 's/doi: .*/doi: "none"/' align/meta.yml 'align: meta.yml: tools: biogpu: doi: none'
broken "a type that is none" 's/type: file/type: path/' align/meta.yml 'align: meta.yml: .*type path'
broken "two keywords" '/- alignment$/d' align/meta.yml 'align: meta.yml: keywords'
broken "a version that is not pinned" 's/=[0-9.]*$//' align/environment.yml 'align: dependencies'
broken "a tag that is missing" '/tag "modules"/d' align/tests/main.nf.test 'align: tests: no tag modules'
broken "a snapshot of another version" 's/"[0-9.]*"$/"9.9.9"/' align/tests/main.nf.test.snap 'align: tests: .*another version'
broken "a brace too few" '/^}/d' qc/main.nf 'qc: .*is not closed'
broken "a string without an end" "s/label 'process_medium'/label 'process_medium/" qc/main.nf 'qc: a string does not end'
broken "an output that is not described" 's/emit: json/emit: jsn/' qc/main.nf 'qc: meta.yml: outputs'

# Scripts and stubs as bash runs them.
support=$source_dir/tests/support
models=$source_dir/tests/data/models
mkdir files
printf 'chr1\t2000\t2004\n' >files/regions.bed
python3 "$support/random_proteinmpnn.py" files/proteinmpnn
python3 "$support/potential_frames.py" write "$models/tensornet/o3" files/molecules.extxyz
python3 "$support/write_npz.py" "$models/pairformer_tiny/expected.safetensors" files/arrays.npz z=full/z s=full/s
last_command=run_modules.py
python3 "$nextflow/run_modules.py" "$biogpu" modules files >out.txt 2>err.txt
rc=$?
cat out.txt
check "scripts and stubs fill the same channels" rc_is 0

# The project's page stands in the modules once there is one.
check "a page" env BIOGPU_HOME=https://example.org/biogpu python3 "$nextflow/make_modules.py" "$biogpu" with_page
check "the modules name it" grep -q '^      homepage: "https://example.org/biogpu"$' with_page/qc/meta.yml
check "and are sound" python3 "$nextflow/check_modules.py" "$biogpu" with_page
check "a registry" env BIOGPU_REGISTRY=registry.example/group python3 "$nextflow/make_modules.py" "$biogpu" with_registry
check "its images" grep -q "'docker://registry.example/group/biogpu:" with_registry/qcmerge/main.nf
check "which are sound" python3 "$nextflow/check_modules.py" "$biogpu" with_registry

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
