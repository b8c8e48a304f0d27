# Checks of outputs that fail: full disk, closed pipe, interruption. Source it after lib.sh.
# Results of a run that is interrupted belong into the folder 'results', made here.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # biogpu, rc, last_command: of lib.sh
mkdir results

n_left_is() { [ "$(find results -mindepth 1 | wc -l)" -eq "$1" ]; }
nothing_left() { n_left_is 0; }

# stdout_full ARGUMENTS...: the disk behind standard output is full.
stdout_full() {
  [ -w /dev/full ] || return 0
  last_command="biogpu $* >/dev/full"
  "$biogpu" "$@" >/dev/full 2>err.txt
  rc=$?
  check "stdout full: exit code 1" rc_is 1
  check "stdout full: one error line" one_error_line
  check "stdout full: the error says why" err_has "No space left"
}

# stderr_full OUTPUT ARGUMENTS...: there is no place for messages, which is no failure of the run.
stderr_full() {
  local output=$1
  shift
  [ -w /dev/full ] || return 0
  last_command="biogpu $* 2>/dev/full"
  : >err.txt
  "$biogpu" "$@" >out.txt 2>/dev/full
  rc=$?
  check "standard error full: exit code 0" rc_is 0
  check "standard error full: the output is there" exists "$output"
  rm -f "$output"
}

# closed_pipe ARGUMENTS...: the reader of standard output leaves early, which is no error.
closed_pipe() {
  last_command="biogpu $* | head -c 40"
  "$biogpu" "$@" 2>err.txt | head -c 40 >out.txt
  rc=${PIPESTATUS[0]}
  check "closed pipe: exit code 0" rc_is 0
  check "closed pipe: no error line" bash -c '! grep -q "^biogpu" err.txt'
}

# no_folder ARGUMENTS...: a folder of the output, called nowhere, does not exist.
no_folder() {
  fails 1 "nowhere" "$@"
  check "nothing is made" absent nowhere
}

# make_pipe NAME: a named pipe that this script holds open, so that who reads it waits for more.
make_pipe() {
  rm -f "$1"
  mkfifo "$1"
  exec 9<>"$1"
}

# start ARGUMENTS...: runs biogpu beside this script; leaves pid.
start() {
  last_command="biogpu $*, interrupted"
  # A shell starts background jobs with SIGINT and SIGQUIT ignored; python gives the defaults back.
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$biogpu" "$@" <&0 >out.txt 2>err.txt &
  pid=$!
}

# An open file in the folder of results: without a name, where the file system can, or with a hidden one.
# shellcheck disable=SC2317  # called through check
writes_results() { find "/proc/$pid/fd" -lname "$(pwd -P)/results/*" 2>/dev/null | grep -q .; }

# results_begin: waits until the run writes into the folder of results.
results_begin() {
  for _ in $(seq 200); do
    writes_results && break
    sleep 0.05
  done
  check "interrupted: a result is being written" writes_results
}

# interrupt SIGNAL: ends the run that start began while it waits.
interrupt() {
  sleep 0.2
  kill -"$1" "$pid"
  wait "$pid"
  rc=$?
  exec 9>&-
  check "interrupted by $1: exit code" rc_is $((128 + $(kill -l "$1")))
  check "interrupted by $1: nothing is left" nothing_left
}

# interrupt_reading INPUT ARGUMENTS...: a run that gets INPUT as standard input and waits for the rest.
interrupt_reading() {
  local input=$1 signal
  shift
  for signal in INT TERM; do
    make_pipe pipe
    start "$@" <pipe
    cat "$input" >&9
    interrupt $signal
  done
}
