#!/usr/bin/env bash
# Installs a wheel of wheel.sh into an empty virtual environment on bare Debian systems, as a user who is not root, and
# runs there the command, the session of docs/python.md and the test of the package.
#
# usage: scripts/packaging/try_wheel.sh WHEEL [RELEASE...]      [bookworm trixie]
#
# numpy comes from PyPI, by the pip of this machine, so that the bare systems need no network.
set -euo pipefail

cd "$(dirname "$0")/../.."
wheel=$(realpath "${1:?usage: scripts/packaging/try_wheel.sh WHEEL [RELEASE...]}")
shift
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/commands.sh" <<'END'
set -euo pipefail
export HOME=$PWD BIOGPU_DEVICE=cpu PYTHONDONTWRITEBYTECODE=1
python3 -m venv empty
empty/bin/pip install -q --no-index --find-links . biogpu
empty/bin/biogpu --version | head -1
[ "$(empty/bin/pip check)" = "No broken requirements found." ]
empty/bin/biogpu kmer count -q -m 21 -o reads.jf "$1/data/lambda_reads.fq.gz"
empty/bin/biogpu kmer stats reads.jf >/dev/null
if empty/bin/biogpu kmer stats nothing.jf 2>/dev/null; then exit 1; fi
empty/bin/python -c 'from biogpu_blocks import Block, triangle_attention'
mkdir check
(cd check && ../empty/bin/python "$1/tests/c_api/python_package_check.py" "$1")
empty/bin/pip uninstall -q -y biogpu
[ -z "$(find empty -path '*biogpu*' -print -quit)" ]
END
commands=$(cat "$work/commands.sh")
for release in "${releases[@]}"; do
  system=$release+python3-venv
  python=$(scripts/packaging/bare_root.sh "$system" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  mkdir "$work/$release"
  cp "$wheel" "$work/$release"
  python3 -m pip download -q --no-deps --only-binary :all: --python-version "$python" -d "$work/$release" numpy
  # shellcheck disable=SC2016  # expanded there
  tar -C "$work/$release" -cf - . | scripts/packaging/bare_root.sh "$system" bash -c '
    set -e
    mkdir /tmp/user && cd /tmp/user && tar -xf - && chown -R 65534:65534 .
    exec setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$1" commands "$2"' bash "$commands" "$PWD"
  echo "try_wheel: $release, Python $python: installed and used without root"
done
