#!/usr/bin/env bash
# Fills the conda recipe: version, address and sum of the source archive, address of the project.
#
# usage: scripts/packaging/recipe.sh ARCHIVE_FOLDER FOLDER
#
# ARCHIVE_FOLDER has the archive of source_archive.sh; FOLDER gets meta.yaml and build.sh. BIOGPU_DOWNLOADS, the
# folder of the archive as a URL, has to be given; a recipe for a try has it as file://... .
set -euo pipefail

usage='usage: scripts/packaging/recipe.sh ARCHIVE_FOLDER FOLDER'
archives=${1:?$usage} out=${2:?$usage}
here=$(dirname "$0")
# shellcheck source=scripts/packaging/project.sh
. "$here/project.sh"
[ -n "$BIOGPU_DOWNLOADS" ] || { echo "recipe: no BIOGPU_DOWNLOADS, where the source archive is" >&2; exit 1; }
archive=biogpu-$BIOGPU_VERSION.tar.gz
sum=$(sha256sum "$archives/$archive" | cut -d ' ' -f 1)
mkdir -p "$out"
python3 "$here/fill.py" "$here/bioconda/meta.yaml" "VERSION=$BIOGPU_VERSION" "HOME=$BIOGPU_HOME" \
  "DOWNLOADS=$BIOGPU_DOWNLOADS" "SHA256=$sum" >"$out/meta.yaml"
install -m 755 "$here/bioconda/build.sh" "$out/build.sh"
echo "$out/meta.yaml"
