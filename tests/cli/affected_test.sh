#!/usr/bin/env bash
# Which tests and sources scripts/dev/affected.py finds that a change touches, on a small project of its own.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -p p/scripts/dev p/lib p/apps p/tests/unit/near p/tests/unit/far p/tests/cli
cp "$source_dir/scripts/dev/affected.py" p/scripts/dev
cd p || exit 1
echo 'int near();' >lib/near.hpp
printf '#include "lib/near.hpp"\nint near() { return 0; }\n' >lib/near.cpp
echo 'int far() { return 0; }' >lib/far.cpp
printf 'int near();\nint main() { return near(); }\n' >tests/unit/near/near_test.cpp
printf 'int far();\nint main() { return far(); }\n' >tests/unit/far/far_test.cpp
printf 'int near();\nint main() { return near(); }\n' >apps/biogpu.cpp
for name in one two; do echo 'exec true' >tests/cli/${name}_test.sh; done
cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
enable_testing()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include_directories(.)
add_library(near lib/near.cpp)
add_library(far lib/far.cpp)
add_executable(biogpu apps/biogpu.cpp)
target_link_libraries(biogpu near)
foreach(stem near far)
  add_executable(${stem}_test tests/unit/${stem}/${stem}_test.cpp)
  target_link_libraries(${stem}_test ${stem})
  add_test(NAME ${stem}_test COMMAND ${stem}_test)
endforeach()
foreach(stem one two)
  add_test(NAME cli_${stem}_test COMMAND bash ${CMAKE_SOURCE_DIR}/tests/cli/${stem}_test.sh $<TARGET_FILE:biogpu>)
endforeach()
TEXT
echo /build/ >.gitignore
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
save() { git add -A && git commit -q -m "$1"; }
git init -q . && save first
cmake -S . -B build/b -G Ninja >cmake.log 2>&1 && ninja -C build/b >cmake.log 2>&1
rc=$?
last_command="the small build"
check "it builds" rc_is 0

affected() { # ARGUMENTS...: leaves the lines, sorted, in out.txt
  last_command="affected.py $*"
  python3 scripts/dev/affected.py "$@" build/b >all.txt 2>err.txt
  rc=$?
  sort all.txt >out.txt
}
export BIOGPU_BASE=HEAD
affected tests
check "nothing changed" out_is 'rest cli_one_test\nrest cli_two_test\nrest far_test\nrest near_test\n'
echo 'int other();' >>lib/near.hpp
affected tests
check "a header" out_is 'near cli_one_test\nnear cli_two_test\nnear near_test\nrest far_test\n'
affected sources
check "a header's sources" out_is 'near lib/near.cpp\nrest apps/biogpu.cpp\nrest lib/far.cpp\n'
save second
affected tests
check "committed, and HEAD is the base" out_is 'rest cli_one_test\nrest cli_two_test\nrest far_test\nrest near_test\n'
export BIOGPU_BASE=HEAD~1
affected tests
check "the last commit" out_is 'near cli_one_test\nnear cli_two_test\nnear near_test\nrest far_test\n'
echo '# more' >>tests/cli/two_test.sh
echo '// more' >>tests/unit/far/far_test.cpp
affected tests
check "a script and a test's source" out_is 'near cli_one_test\nnear near_test\nown cli_two_test\nown far_test\n'
check "its own first" [ "$(head -2 all.txt | grep -c '^own ')" -eq 2 ]
affected sources
check "a test's source is none of the product" out_is 'near lib/near.cpp\nrest apps/biogpu.cpp\nrest lib/far.cpp\n'

# The rest begins elsewhere with another commit, and is complete each time.
export BIOGPU_BASE=HEAD
save third
affected tests
cp all.txt before.txt
cp out.txt sorted.txt
echo x >note.txt
save fourth
affected tests
check "another beginning" bash -c '! cmp -s all.txt before.txt'
check "all of them" same_files out.txt sorted.txt

cd "$work" || exit 1
finish
