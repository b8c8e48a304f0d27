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

# options_of COMMAND: sets `options` to those of a command of biogpu and `valued` to those that take a
# value, from the table that completions are made of.
options_of() {
  entry=$("$biogpu" completion bash | sed -n "/^    \"$1\")\$/,/;;\$/p")
  options=" $(printf '%s\n' "$entry" | sed -n 's/^ *options="\(.*\)"$/\1/p') "
  valued=" $(printf '%s\n' "$entry" | sed -n 's/^ *with_value="\(.*\)"$/\1/p') "
}

# look_at WORD: sets `unknown` to the option in it that biogpu does not have, and `value_follows` to
# yes where the next word is its value. In -Aw, A and w are options.
look_at() {
  unknown='' value_follows=no
  case $1 in
    --?*)
      name=${1%%=*}
      known=$name
      case $options in
        *" $known "*) ;;
        *)
          # A dash for an underscore.
          known=${name#--}
          while :; do
            case $known in
              *-*) known=${known%%-*}_${known#*-} ;;
              *) break ;;
            esac
          done
          known=--$known
          ;;
      esac
      case $options in
        *" $known "*) ;;
        *) unknown=$name && return ;;
      esac
      case $1 in
        *=*) ;;
        *) case $valued in *" $known "*) value_follows=yes ;; esac ;;
      esac
      ;;
    -?*)
      letters=${1#-}
      while [ -n "$letters" ]; do
        known=-${letters%"${letters#?}"}
        letters=${letters#?}
        case $options in
          *" $known "*) ;;
          *) unknown=$known && return ;;
        esac
        case $valued in
          *" $known "*)
            [ -n "$letters" ] || value_follows=yes
            return
            ;;
        esac
      done
      ;;
  esac
}

# first_unknown WORD...: sets `unknown` to the first option that biogpu does not have, or to nothing.
first_unknown() {
  unknown='' value_follows=no
  for word; do
    if [ $value_follows = yes ]; then
      value_follows=no
      continue
    fi
    [ "$word" != -- ] || return 0
    look_at "$word"
    [ -z "$unknown" ] || return 0
  done
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
