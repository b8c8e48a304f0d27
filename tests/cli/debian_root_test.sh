#!/usr/bin/env bash
# scripts/dev/debian_root.sh: of several scripts that want one folder, one makes it and the others wait.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A root that takes a moment to make: what is made twice, or looked at half made, is seen.
cat >root.sh <<END
root=\$PWD/made release=none
. "$source_dir/scripts/dev/debian_root.sh"
make_root() {
  mkdir "\$root" || fail "made twice"
  until [ -e "\$root/go" ]; do sleep 0.05; done
  echo whole >"\$root/content"
  echo list >"\$root/.ready"
}
make_root_once "\$1"
cat "\$root/content"
END

for i in 1 2 3; do
  bash root.sh list >out$i 2>err$i &
  pids[i]=$!
done
waiting() { [ "$(cat err1 err2 err3 | grep -c "^root: another script makes $PWD/made; waiting for it, 1800 s at most$")" -eq 2 ]; }
for _ in $(seq 600); do waiting && break; sleep 0.05; done
check "two wait, and say so" waiting
check "the folder is half made" absent made/content
BIOGPU_ROOT_WAIT_S=0.1 bash root.sh list >out.txt 2>err.txt
rc=$?
check "a limit of time" rc_is 3
check "is told" err_has "^root: another script still makes $PWD/made after 0.1 s; it holds $PWD/made.lock$"
touch made/go
for i in 1 2 3; do
  wait "${pids[i]}"
  rc=$?
  check "script $i" rc_is 0
  check "has the whole folder" grep -qx whole out$i
done
rm made.lock
mkdir made.lock
bash root.sh list >out.txt 2>err.txt
rc=$?
check "a folder that is ready needs no lock" rc_is 0
bash root.sh other >out.txt 2>err.txt
rc=$?
check "one of another list does" rc_is 3
check "and says that there is none" err_has "made.lock cannot be written"
finish
