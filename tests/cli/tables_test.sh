#!/usr/bin/env bash
# The tables of the documentation: as their results give them, and an edit by hand is found.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

tables=$source_dir/scripts/dev/tables.py
page=$source_dir/docs/benchmarks/limits.md
check "every table is what its result gives" python3 "$tables" --check

sed 's/| sort 32-bit keys | 4/| sort 32-bit keys | 5/' "$page" >edited.md
check "the edit is there" bash -c "! cmp -s '$page' edited.md"
check "an edited figure is found" bash -c "! python3 '$tables' --check edited.md >out.txt 2>err.txt"
check "and shown" out_has '^-| sort 32-bit keys | 5'
check "without being changed" bash -c "! cmp -s '$page' edited.md"
python3 "$tables" edited.md >/dev/null
check "and made again without --check" same_files "$page" edited.md

sed 's/limits.json/nothing.json/' "$page" >lost.md
check "a result that is not there is an error" bash -c "! python3 '$tables' --check lost.md >out.txt 2>err.txt"
check "with its name" err_has 'nothing.json'

# Results hold what tables, plots and pages read, and nothing else.
cp -r "$source_dir/docs" "$source_dir/scripts" "$source_dir/README.md" .
prune="python3 scripts/dev/prune_results.py"
result=scripts/bench/results/2026-11-21-h200/limits.json
check "no result holds more than is read" bash -c "$prune --check"
cp "$result" before.json
sed -i 's/"name": "sort 32-bit keys"/"unread": 5, &/' "$result"
check "the addition is there" bash -c "! cmp -s '$result' before.json"
check "a value that nothing reads is found" bash -c "! $prune --check >out.txt"
check "with its file" out_has "$result: holds more"
check "and removed" bash -c "$prune && cmp '$result' before.json"
cp "$result" scripts/bench/results/copy.json
check "a result that nothing reads is found" bash -c "! $prune --check >out.txt"
check "with its name" out_has 'copy.json: no table or plot reads it'

# What was done for a platform: recorded, the page is behind until it is made again.
record="python3 scripts/measure/platforms.py"
check "a platform that is not known is refused" bash -c "! printf 'abacus\tkmer\trun\tx\n' | $record x 2>err.txt"
check "by its name" err_has 'abacus'
check "so is a state" bash -c "! printf 'arm64\tkmer\tclaimed\tx\n' | $record x 2>/dev/null"
check "so is a line of date and commit without the commit" bash -c "! printf '# 2026-01-02 \narm64\tkmer\trun\tx\n' | $record x 2>err.txt"
check "in one line" err_has "expected '# DATE COMMIT'"
check "nothing is no record" bash -c "! $record x </dev/null 2>/dev/null"
check "a record" bash -c "printf 'arm64\tkmer\trun\tbeads\n' | $record x"
check "the page is behind" bash -c "! python3 scripts/dev/tables.py --check docs/platforms.md >out.txt 2>&1"
check "by this row" out_has '^+| arm64 | kmer | run | beads'
check "made again it is not" bash -c "python3 scripts/dev/tables.py docs/platforms.md && python3 scripts/dev/tables.py --check docs/platforms.md"
check "another platform of the same script, with the date and commit of what was tested" \
  bash -c "printf '# 2026-01-02 abcdef01\nx86-64 GCC 12\tkmer\trun\tnuts\n' | $record x && python3 scripts/dev/tables.py docs/platforms.md"
check "is there" grep -q '^| x86-64 GCC 12 | kmer | run | nuts |.* 2026-01-02, abcdef01 |$' docs/platforms.md
check "next to the first" grep -q '^| arm64 | kmer | run | beads' docs/platforms.md

finish
