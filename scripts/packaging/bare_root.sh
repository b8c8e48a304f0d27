#!/usr/bin/env bash
# Runs a command in a bare Debian system in a folder, as packages are tried: minimal, without a compiler, and without
# any library that a package should carry.
#
# usage: scripts/packaging/bare_root.sh RELEASE[+PACKAGE...] COMMAND [ARG...]     bookworm, trixie+python3-venv, ...
#
# The folder is made once, in BIOGPU_BARE_ROOTS, default /var/cache/biogpu. The repository keeps its path there, and
# /tmp is empty. Needs root and Debian's archive.
#
# Exit status: the command's; 3 when the system cannot be made here.
set -uo pipefail

IFS=+ read -r -a words <<<"${1:?usage: scripts/packaging/bare_root.sh RELEASE[+PACKAGE...] COMMAND [ARG...]}"
root=${BIOGPU_BARE_ROOTS:-/var/cache/biogpu}/bare-$1
shift
# shellcheck disable=SC2034  # of debian_root.sh
release=${words[0]}
packages=("${words[@]:1}")
# shellcheck source=scripts/dev/debian_root.sh
. "$(dirname "$0")/../dev/debian_root.sh"

make_root() {
  local archive log
  make_base
  in_root apt-get update >>"$log" 2>&1 || fail "the package lists cannot be fetched: $(tail -n 1 "$log")"
  [ ${#packages[@]} -eq 0 ] || install "${packages[@]}"
  finish_root "${words[*]}"
}

make_root_once "${words[*]}"
run_in_root "$@"
