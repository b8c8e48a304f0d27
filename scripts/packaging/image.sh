#!/usr/bin/env bash
# Makes an OCI image of an archive of archive.sh, for the CPU, and runs a command in it. It takes no image from a
# registry: its base is Debian 12 with ps, which Nextflow wants, from Debian's archive.
#
# usage: scripts/packaging/image.sh ARCHIVE [FOLDER]      [build/packages]
#
# Writes biogpu-VERSION-cpu.oci.tar, which `skopeo copy`, `podman load` and newer versions of `docker load` take. Needs
# root for the base, and buildah, which `scripts/setup.sh --package` installs. The image runs without root.
set -euo pipefail

cd "$(dirname "$0")/../.."
archive=$(realpath "${1:?usage: scripts/packaging/image.sh ARCHIVE [FOLDER]}") out=${2:-build/packages}
# shellcheck source=scripts/packaging/project.sh
. scripts/packaging/project.sh
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
mkdir -p "$out"
name=biogpu-$BIOGPU_VERSION-cpu
work=$(mktemp -d)
container=
clean() {
  [ -z "$container" ] || buildah rm "$container" >/dev/null
  rm -rf "$work"
}
trap clean EXIT

# What belongs to this machine and not to Debian is left out.
system=bookworm+procps
scripts/packaging/bare_root.sh "$system" tar --one-file-system --exclude="./${PWD#/}" --exclude=./root/.cache --exclude=./etc/resolv.conf \
  --exclude=./etc/apt/apt.conf.d/as-outside --exclude=./etc/dpkg/dpkg.cfg.d/unsafe-io --exclude=./.base --exclude=./.ready \
  --exclude='./var/lib/apt/lists/*' --exclude='./var/cache/apt/*' --exclude='./var/log/*' --exclude='./tmp/*' --exclude='./dev/*' \
  --exclude='./proc/*' -C / -cf - . >"$work/base.tar"
debian=$(scripts/packaging/bare_root.sh "$system" cat /etc/debian_version)
mkdir -p "$work/biogpu/opt"
tar -C "$work/biogpu/opt" -xzf "$archive"
mv "$work/biogpu/opt"/biogpu-* "$work/biogpu/opt/biogpu"

container=$(buildah from scratch)
buildah add -q "$container" "$work/base.tar" / >/dev/null
buildah add -q "$container" "$work/biogpu" / >/dev/null
label=org.opencontainers.image
labels=("title=biogpu" "description=Sequence analysis on CPUs and GPUs, from file to file" "version=$BIOGPU_VERSION" "licenses=MIT"
  "revision=$(git rev-parse HEAD)" "base.name=debian:$debian")
[ -z "$BIOGPU_HOME" ] || labels+=("source=$BIOGPU_HOME" "url=$BIOGPU_HOME")
buildah config --env PATH=/opt/biogpu/bin:/usr/local/bin:/usr/bin:/bin --env LC_ALL=C.UTF-8 --user nobody --cmd '["biogpu", "--help"]' \
  "${labels[@]/#/--label=$label.}" "$container"
buildah run --user nobody "$container" -- bash -c '
  cd /tmp && biogpu kmer count -q -m 21 -C -o reads.jf /opt/biogpu/share/biogpu/data/lambda_reads.fq.gz &&
  biogpu kmer stats reads.jf && ps >/dev/null && rm reads.jf' >"$work/stats.txt"
grep -qE '^Total: +14909$' "$work/stats.txt"
rm -f "$out/$name.oci.tar"
buildah commit -q --disable-compression=false --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci-archive:$out/$name.oci.tar:biogpu:$BIOGPU_VERSION-cpu" >/dev/null
(cd "$out" && sha256sum "$name.oci.tar" >"$name.oci.tar.sha256")
echo "$out/$name.oci.tar"
