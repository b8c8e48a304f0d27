#!/usr/bin/env bash
# Makes Debian's source package of the last commit and builds its packages: the program, the library and its
# development files, the Python packages, the pages.
#
# usage: scripts/packaging/deb.sh [--source] [FOLDER]      [build/deb]
#   --source   the source package alone
#
# Needs what `scripts/setup.sh --package` installs. BIOGPU_MAINTAINER="Name <address>", or Debian's own DEBFULLNAME and
# DEBEMAIL, names who answers for the package. lintian then has to find no error.
set -euo pipefail

cd "$(dirname "$0")/../.."
repository=$PWD
# shellcheck source=scripts/packaging/project.sh
. scripts/packaging/project.sh
source_only=0
if [ "${1:-}" = --source ]; then
  source_only=1
  shift
fi
fail() { echo "deb: $*" >&2; exit 1; }
for tool in dpkg-buildpackage dh dh_python3 file lintian; do
  command -v "$tool" >/dev/null || fail "no $tool here; scripts/setup.sh --package installs what makes packages"
done
if [ -z "$BIOGPU_MAINTAINER" ] && [ -n "${DEBEMAIL:-}" ]; then BIOGPU_MAINTAINER="${DEBFULLNAME:-biogpu} <$DEBEMAIL>"; fi
[ -n "$BIOGPU_MAINTAINER" ] || fail 'nobody answers for the package; set BIOGPU_MAINTAINER="Name <address>"'
if command -v ccache >/dev/null; then
  # debhelper gives each build another home.
  CCACHE_DIR=$(ccache -k cache_dir)
  export CCACHE_DIR
fi

out=${1:-build/deb}
rm -rf "$out"
mkdir -p "$out"
cd "$out"
upstream=biogpu-$BIOGPU_VERSION
git -C "$repository" archive --prefix="$upstream/" HEAD | xz -T0 >"biogpu_$BIOGPU_VERSION.orig.tar.xz"
tar -xJf "biogpu_$BIOGPU_VERSION.orig.tar.xz"
cp -r "$repository/scripts/packaging/debian" "$upstream/debian"

# Everything that a build takes, from the one list that the project has.
needs="debhelper-compat (= 13), dh-sequence-python3, $("$repository/scripts/setup.sh" --list |
  sed 's/^python3$/python3:any/; s/^g++$/g++ (>= 4:12)/; s/^cmake$/cmake (>= 3.25)/' | paste -sd, | sed 's/,/, /g')"
for file in control changelog copyright watch; do
  python3 "$repository/scripts/packaging/fill.py" "$repository/scripts/packaging/debian/$file" "VERSION=$BIOGPU_VERSION" \
    "MAINTAINER=$BIOGPU_MAINTAINER" "HOME=$BIOGPU_HOME" "DOWNLOADS=$BIOGPU_DOWNLOADS" "BUILD_DEPENDS=$needs" \
    "DATE=$(date -Ru -d "@$SOURCE_DATE_EPOCH")" >"$upstream/debian/$file"
done
# Without a folder of releases there is nothing to watch.
[ -n "$BIOGPU_DOWNLOADS" ] || rm "$upstream/debian/watch"

options=(-us -uc)
[ $source_only = 0 ] || options+=(-S -d)
(cd "$upstream" && dpkg-buildpackage "${options[@]}" >../build.log 2>&1) || { tail -n 30 build.log >&2; fail "the build failed: $out/build.log"; }
lintian --fail-on error ./*.changes
find . -maxdepth 1 -name '*.deb' -o -maxdepth 1 -name '*.dsc' | sort | sed "s|^\.|$out|"
