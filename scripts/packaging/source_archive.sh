#!/usr/bin/env bash
# Makes the source archive of a release: the last commit, and in the folder chart.js of third_party the one file of
# Chart.js that the report of qc needs, with its licence, so that a build needs no package of it.
#
# usage: scripts/packaging/source_archive.sh [FOLDER]      [build/packages]
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/packaging/project.sh
. scripts/packaging/project.sh
out=${1:-build/packages}
mkdir -p "$out"
name=biogpu-$BIOGPU_VERSION
charts=/usr/share/javascript/chart.js/chart.min.js
[ -f "$charts" ] || { echo "source_archive: no $charts; scripts/setup.sh installs it" >&2; exit 1; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
git archive --prefix="$name/" HEAD | tar -C "$stage" -xf -
install -D -m 644 "$charts" "$stage/$name/third_party/chart.js/chart.min.js"
install -m 644 /usr/share/doc/libjs-chart.js/copyright "$stage/$name/third_party/chart.js/LICENSE"
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
  gzip -9n >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
