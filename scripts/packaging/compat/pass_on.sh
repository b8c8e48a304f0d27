# shellcheck shell=sh
# shellcheck disable=SC2034  # what is set here is used by the shims
# Sourced by the shims: where biogpu is, and how a shim hands over what biogpu does not cover.
here=$(dirname "$(readlink -f "$0")")
biogpu=${BIOGPU:-$here/../../../bin/biogpu}
[ -x "$biogpu" ] || biogpu=biogpu

# next_on_path NAME: the first program of that name on PATH that is no shim. Folders of shims that
# were passed already are remembered, so that two of them do not call each other for ever.
next_on_path() {
  rest=$PATH:
  while [ -n "$rest" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    candidate=${folder:-.}/$1
    if [ ! -f "$candidate" ] || [ ! -x "$candidate" ]; then continue; fi
    case :$here:${BIOGPU_SHIMS_PASSED-}: in
      *:"$(dirname "$(readlink -f "$candidate")")":*) continue ;;
    esac
    echo "$candidate"
    return 0
  done
  return 1
}

# pass_on NAME WHAT ARGUMENT...: ends as the next program of that name; WHAT is for the message where
# there is none.
pass_on() {
  name=$1 what=$2
  shift 2
  if ! program=$(next_on_path "$name"); then
    echo "$name (biogpu): $what, and no other '$name' is on PATH" >&2
    exit 2
  fi
  BIOGPU_SHIMS_PASSED=$here:${BIOGPU_SHIMS_PASSED-}
  export BIOGPU_SHIMS_PASSED
  exec "$program" "$@"
}
