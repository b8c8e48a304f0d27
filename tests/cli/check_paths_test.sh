#!/usr/bin/env bash
# scripts/dev/check_paths.py finds each kind of breach in a small project, and none in a correct one.
# shellcheck disable=SC2016,SC2317  # backticks of Markdown; functions that check() calls
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -p p/scripts/dev p/docs p/lib/core p/lib/io p/gpu/rt p/gpu/prim p/gpu/qc
cp "$source_dir"/scripts/dev/check_{paths,layers}.py p/scripts/dev
cd p || exit 1
git init -q .

check_paths() { PYTHONDONTWRITEBYTECODE=1 python3 scripts/dev/check_paths.py >../out.txt 2>&1; }
# breach FILE:LINE TEXT: the check fails and prints this line.
breach() { ! check_paths && grep -qx "$1: $2" ../out.txt; }
table() { printf '| `%s` | text |\n' "$@" >docs/architecture.md; }

echo '{"configurePresets": [{"name": "cpu"}]}' >CMakePresets.json
echo '// See lib/core/error.hpp.' >lib/io/reader.hpp
echo '#include <zlib.h>' >lib/core/error.hpp
echo '// No kernel.' | tee gpu/rt/stream.hip >gpu/prim/sort.hip
printf '// %s\n' 'What it computes.' 'Shapes  a' 'Mapping, Traffic  b' 'Result  c' 'Oracle  d' '' >gpu/qc/trim.hip
echo >>gpu/qc/trim.hip
table lib/io lib/core gpu/qc gpu/prim gpu/rt
echo 'The preset `cpu`, `lib/io/NAME.hpp`, `lib/io/reader`, `error.hpp`, `zlib.h`.' >docs/page.md
echo '[a](docs/architecture.md), [b](docs/page.md)' >README.md
check "a correct project" check_paths

printf '%s\n' 'Text' 'and `lib/io/writer.hpp`.' >docs/page.md
check "a path" breach docs/page.md:2 'no path lib/io/writer.hpp'
printf '%s\n' 'Text' 'and `lib/io/writer.hpp`' 'of commit 53282c6.' >docs/page.md
check "a path of another commit" check_paths
echo 'A file, `writer.hpp`.' >docs/page.md
check "a file" breach docs/page.md:1 'no file writer.hpp'
echo 'The preset `gpu`.' >docs/page.md
check "a preset in a sentence" breach docs/page.md:1 'no preset gpu'
printf '```\ncmake --preset gpu\n```\n' >docs/page.md
check "a preset in a block" breach docs/page.md:2 'no preset gpu'
echo '[a](gone.md), [b](architecture.md#here).' >docs/page.md
check "a link" breach docs/page.md:1 'no file gone.md for this link'
check "a heading" breach docs/page.md:1 'no heading #here in architecture.md'
echo '# Right here' >>docs/architecture.md && echo '[b](architecture.md#right-here).' >docs/page.md
check "a heading that is there" check_paths
rm docs/page.md
mkdir docs/design
echo '`io::Reader`, `open_file(path)`, `NAME_test`' >docs/design/page.md
check "a name" breach docs/design/page.md:1 'no name open_file in the sources'

echo 'int a;  // lib/core/gone.hpp has it' >lib/io/reader.cpp
check "a path in a comment" breach lib/io/reader.cpp:1 'no path lib/core/gone.hpp'
rm lib/io/reader.cpp

table lib/core lib/io gpu/qc gpu/prim gpu/rt
check "the order of layers" breach docs/architecture.md:2 'lib/io lies above the folders listed before it'
table lib/io lib/core gpu/prim gpu/rt
check "a folder left out" breach docs/architecture.md:1 'gpu/qc is not in the table of folders'
table lib/io lib/core gpu/qc gpu/prim gpu/rt

sed -i '/Oracle/d' gpu/qc/trim.hip
check "a field of a kernel" breach gpu/qc/trim.hip:1 'the header has no field Oracle'

echo 'Text' >docs/lost.md
check "a page without a link" breach docs/lost.md:1 'no page links to this one'

cd "$work" || exit 1
finish
