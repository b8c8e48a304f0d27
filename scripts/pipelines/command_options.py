"""The options of every command of the program, to which what a workflow calls is compared."""
import re
import subprocess

OPTION = re.compile(r"--?[A-Za-z][\w-]*")


def options_of(biogpu):
    """Options by command, from the table that completions are made of."""
    script = subprocess.run([biogpu, "completion", "bash"], capture_output=True, text=True, check=True)
    entries = re.findall(r'^    "([^"]*)"\)\n      commands="[^"]*"\n      options="([^"]*)"',
                         script.stdout, re.M)
    return {path: set(options.split()) for path, options in entries}


def command_of(words, table):
    """The command that words, what follows `biogpu`, begin with; None where the program has none of that name."""
    return next((path for path in (" ".join(words[:2]), words[0]) if path in table), None)


def unknown_options(words, path, table):
    """The options among words that the command does not have."""
    return [word for word in words if OPTION.fullmatch(word) and word not in table[path]]
