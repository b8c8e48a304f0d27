#!/usr/bin/env bash
# Makes the files of a release, of the last commit, in one folder: source archive, program archive, wheel, Debian's
# source package, conda recipe, and the sums of all.
#
# usage: scripts/packaging/release.sh [FOLDER]      [build/release-files]
#
# BIOGPU_HOME, BIOGPU_DOWNLOADS and BIOGPU_MAINTAINER fill the fields of the packages; project.sh is where they stand.
# Made on Debian 12, so that the program runs with its C library and newer ones.
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/packaging/project.sh
. scripts/packaging/project.sh
for field in BIOGPU_HOME BIOGPU_DOWNLOADS BIOGPU_MAINTAINER; do
  [ -n "${!field}" ] || { echo "release: no $field; scripts/packaging/project.sh says what it is" >&2; exit 1; }
done
[ -z "$(git status --porcelain)" ] || { echo "release: the folder has changes that are not committed" >&2; exit 1; }
out=${1:-build/release-files}
rm -rf "$out"
mkdir -p "$out/recipe"
scripts/packaging/source_archive.sh "$out"
scripts/packaging/archive.sh "$out"
scripts/packaging/image.sh "$out/biogpu-$BIOGPU_VERSION-linux-$(uname -m).tar.gz" "$out"
scripts/packaging/wheel.sh --build build/release "$out"
scripts/packaging/recipe.sh "$out" "$out/recipe"
scripts/packaging/deb.sh --source build/deb-source
cp build/deb-source/*.dsc build/deb-source/*.tar.xz "$out"
rm -f "$out"/*.sha256
(cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >../SHA256SUMS && mv ../SHA256SUMS .)
ls -R "$out"
