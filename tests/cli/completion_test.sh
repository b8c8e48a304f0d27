#!/usr/bin/env bash
# Completion in bash, zsh and fish: commands, options, and the words that an option's value is one of.
# Functions are called by the name of a shell, and run in it.
# shellcheck disable=SC2317,SC2016
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
  works completion $shell
  cp out.txt script.$shell
done

# in_bash WORD...: the candidates for the last word, one a line.
cat >in_bash.sh <<'EOF'
. ./script.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_biogpu
printf '%s\n' "${COMPREPLY[@]}"
EOF
in_bash() { bash in_bash.sh "$@" >got.txt 2>err.txt; }

# The functions of zsh's completion system, which print what they would offer.
cat >in_zsh.zsh <<'EOF'
compadd() { [[ $1 == -- ]] && shift; print -l -- $@ }
_files() { print files }
_describe() { [[ $1 == -o ]] && shift; print -l -- ${(P)2} }
compdef() { }
. ./script.zsh
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_biogpu
EOF
in_zsh() { zsh -f in_zsh.zsh "$@" >got.txt 2>err.txt; }

in_fish() { fish -N -c '. ./script.fish; complete -C $argv[1]' "$*" >got.txt 2>err.txt; }

has() { grep -q "^$1\b" got.txt; }
silent() { [ ! -s err.txt ]; }

for shell in bash zsh fish; do
  command -v $shell >/dev/null || { echo "SKIPPED: no $shell"; continue; }
  in_$shell biogpu al
  check "$shell: a command" has align
  in_$shell biogpu align --mo
  check "$shell: an option" has --mode
  in_$shell biogpu align --mode ""
  check "$shell: choices of --mode" has sw
  check "$shell: all of them" has nw
  check "$shell: no message" silent
  in_$shell biogpu align --mode sw --strand ""
  check "$shell: choices of --strand" has both
  check "$shell: none of another option" bash -c '! grep -q "^sw" got.txt'
  in_$shell biogpu infer relax --optimizer ""
  check "$shell: choices below a command of a command" has fire
  check "$shell: no message there" silent
  in_$shell biogpu completion ""
  check "$shell: choices of an argument" has zsh
done

in_bash biogpu align --mode = s
check "bash: a value behind =" has sw
in_bash biogpu align --mode =
check "bash: an empty value behind =" has nw

finish
