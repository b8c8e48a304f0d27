#!/usr/bin/env bash
# usage: lint_modules.sh BIOGPU NF_CORE CLONE
#
# Runs `nf-core modules lint` over the modules: NF_CORE is the program of the Python package nf-core, CLONE a folder with
# nf-core's modules as git has them. Nothing is fetched. Where Nextflow is not installed, process.py answers what the
# linter asks of it: the images of a module. What the linter looks up on the network fails without one: the version of
# the package in bioconda.
set -euo pipefail
[ $# -eq 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
biogpu=$(realpath "$1") nf_core=$(realpath -s "$2") clone=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The linter clones the repository that the modules are to go to: here one with what it reads of it.
mkdir -p "$work/remote/modules/nf-core" "$work/bin" "$work/home"
for file in .nf-core.yml modules/meta-schema.json modules/environment-schema.json nf-test.config; do
  git -C "$clone" show "HEAD:$file" >"$work/remote/$file"
done
touch "$work/remote/modules/nf-core/.keep" "$work/remote/main.nf"
git -C "$work/remote" init -q -b master
git -C "$work/remote" add -A
git -C "$work/remote" -c user.name=lint -c user.email=lint@localhost commit -q -m lint
cat >"$work/home/.gitconfig" <<TEXT
[url "file://$work/remote"]
    insteadOf = https://github.com/nf-core/modules.git
[safe]
    directory = *
TEXT

cp -r "$work/remote" "$work/modules"
printf 'container-registry:\n  - localhost\n' >"$work/registry"
sed -n '/^repository_type\|^org_path/p' "$work/remote/.nf-core.yml" | cat - "$work/registry" >"$work/modules/.nf-core.yml"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/make_modules.py" "$biogpu" "$work/modules/modules/nf-core/biogpu"

if ! command -v nextflow >/dev/null; then
  cat >"$work/bin/nextflow" <<TEXT
#!/bin/sh
case "\$*" in
  -v) echo "nextflow version 26.04.0.0" ;;
  *config*) echo "{}" ;;
  inspect*) PYTHONDONTWRITEBYTECODE=1 exec python3 "$here/process.py" "\$@" ;;
esac
TEXT
  chmod +x "$work/bin/nextflow"
fi
cd "$work/modules"
HOME=$work/home XDG_CONFIG_HOME=$work/home/.config PATH=$work/bin:$PATH \
  "$nf_core" --hide-progress modules -b master lint --plain-text --all --dir . 2>&1 |
  grep -v '^ *$\|^WARNING  No container\|^INFO' | tee "$work/lint.txt"
grep -q '^\[✗\]  *0 Tests Failed' "$work/lint.txt"
