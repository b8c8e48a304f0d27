#!/usr/bin/env bash
# The frame of scripts/compare, with peers made here: equal texts give results; another byte, a side that fails
# or writes nothing, and a program that is not there are failures; an absent peer is skipped unless required.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir peers
cp "$source_dir/scripts/compare/all" peers/all

# peer NAME PACKAGES OURS THEIRS: a command like those of scripts/compare, whose rule compares two shell commands.
peer() {
  cat >"peers/$1" <<EOF
#!/usr/bin/env python3
import sys
sys.path.insert(0, "$source_dir/scripts")
sys.dont_write_bytecode = True
from measure import models
from measure.comparison import Case, Peer, Program, main

def cases(setup):
    if "$1" == "unprepared":
        models.prepare(setup, ["false", "now"])
    yield Case("text", Program([setup.biogpu, "--version"], stdout="ours.txt"), Program(["true"]),
               "every byte", lambda: setup.same_text("""$3""", """$4"""), note="a made peer")

main(Peer("$1", "$1", "biogpu", $2, lambda setup: "1"), "A made peer.", cases)
EOF
  chmod +x "peers/$1"
}
peer equal '{}' 'echo ACGT' 'cat <<<ACGT'
peer other_byte '{}' 'echo ACGT' 'echo ACGA'
peer both_fail '{}' 'echo ACGT; exit 3' 'echo ACGT; exit 3'
peer both_empty '{}' 'true' 'true'
peer late_failure '{}' 'echo ACGT' 'echo ACGT | (cat; exit 1) | cat'
peer unprepared '{}' 'echo ACGT' 'echo ACGT'
peer absent '{"no-such-peer": "no-such-peer"}' 'echo ACGT' 'echo ACGT'

# compare NAME OPTION...: leaves out.txt, err.txt and rc; results go to a fresh folder.
compare() {
  last_command="compare $*"
  rm -rf results
  local name=$1
  shift
  "peers/$name" --biogpu "$biogpu" --repeats 1 --no-install --out results "$@" >out.txt 2>err.txt
  rc=$?
}

compare equal
check "equal texts" rc_is 0
for suffix in json md svg; do check "results" [ -s "results/equal.$suffix" ]; done
check "nothing else is left" [ "$(find results -mindepth 1 | wc -l)" -eq 3 ]
check "the note is shown" grep -q 'a made peer' results/equal.md
# Plots: nothing is cut off, one axis, values in the unit that people say.
check "nothing of a plot is cut off" python3 - "$source_dir" results/equal.svg <<'PY'
import pathlib, sys, xml.dom.minidom
sys.path.insert(0, sys.argv[1] + "/scripts")
from measure import plot
text = plot.bars("a title", "a caption " * 60, [
    ("short", [("biogpu", 6.36e-9, [6.36e-9]), ("a peer with a long name", 652e-9, [6.5e-7, 7e-7])]),
    ("a long name of a case that does not fit into one line", [("biogpu", 3.7e-4, [3.7e-4]), ("a peer", 0.012842188, [0.012842188])])])
assert "12.8 ms, 34.7 times" in text and "652 ns" in text and "370 µs" in text, text
assert plot.quantity(0, "s") == "0 s" and plot.number(12842188) == "12,842,188"
plot.bars("zero", "", [("nothing", [("biogpu", 0, [0])])])
pathlib.Path("wide.svg").write_text(text, encoding="utf-8")
files = ["wide.svg", sys.argv[2], *pathlib.Path(sys.argv[1], "docs/benchmarks").glob("*.svg")]
assert len(files) > 5
for path in files:
    svg = xml.dom.minidom.parse(str(path)).documentElement
    width, height = map(float, svg.getAttribute("viewBox").split()[2:])
    for node in svg.getElementsByTagName("text"):
        x, room = float(node.getAttribute("x")), 6.8 * len(node.firstChild.data)
        if node.getAttribute("class") == "note": room *= 0.85
        if node.getAttribute("class") == "title": room *= 1.25
        shift = {"end": 1, "middle": 0.5}.get(node.getAttribute("text-anchor"), 0)
        assert x - shift * room >= 0 and x + (1 - shift) * room <= width, (path, node.toxml())
        assert float(node.getAttribute("y")) < height, (path, node.toxml())
PY

while read -r name pattern; do
  compare "$name"
  check "$name is a failure" rc_is 1
  check "$name says $pattern" err_has "$pattern"
  check "$name leaves no result" absent "results/$name.json"
done <<'EOF'
other_byte DIFFERENT
both_fail status 3
both_empty wrote nothing
late_failure status 1
unprepared FAILED
EOF

compare absent
check "an absent peer is skipped" rc_is 77
compare absent --biogpu "$work/nothing"
check "a program that is not there is a failure" rc_is 1
compare equal --biogpu "$work/peers/../err.txt"
check "and one that is not a program" rc_is 1

compare all --peers equal,absent
check "all: one compared, one skipped" rc_is 0
compare all --peers equal,other_byte
check "all: one differs" rc_is 1
compare all --peers absent
check "all: nothing was compared" rc_is 1
compare all --peers equal,absent --require equal,absent
check "all: a required peer is absent" rc_is 1
compare all --peers equal --require absent
check "all: a required peer is not asked for" rc_is 1
compare all --peers equal --require equal
check "all: the required one is there" rc_is 0

finish
