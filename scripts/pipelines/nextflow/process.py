"""A Nextflow process as far as the modules need it: its parts, and the shell text that its script or stub comes to.

Without Nextflow, this is how the modules are run in tests. Of Groovy it reads what they use: assignments of
strings, conditions and names, followed by one text in three quotes. Anything else is a Fault.
"""
import json
import re
import sys

TOKEN = re.compile(r"""\s*(?:("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(\d+)|([A-Za-z_]\w*)|(\?\.|\?:|&&|\|\||==|!=|[?:!.()\[\],]))""")


class Fault(Exception):
    pass


class Process:
    """name, directives, inputs (lists of names), outputs and the two scripts of one main.nf."""

    def __init__(self, text):
        body = re.fullmatch(r"process (\w+) \{\n(.*)\}\n", text, re.S)
        if not body:
            raise Fault("expected one process and nothing else")
        self.name = body[1]
        parts = re.split(r"^    (input|output|when|script|stub):\n", body[2], flags=re.M)
        self.blocks = {"directives": parts[0]} | dict(zip(parts[1::2], parts[2::2]))
        for label in ("input", "output", "when", "script", "stub"):
            if label not in self.blocks:
                raise Fault(f"no {label}:")
        self.inputs = [re.findall(r"(?:val|path)[( ](\w+)", line) for line in self.blocks["input"].splitlines() if line.strip()]
        self.outputs = []
        for line in self.blocks["output"].splitlines():
            found = re.fullmatch(r"""    tuple val\(meta\), path\(("[^"]*"|'[^']*')\)(, optional: true)?, emit: (\w+)""", line)
            if found:
                self.outputs.append((found[3], found[1], bool(found[2])))
        self.version = re.search(r"""val\('biogpu'\), eval\("([^"]*)"\), topic: versions, emit: versions_biogpu""", self.blocks["output"])
        if not self.version:
            raise Fault("output: no version of biogpu")

    def container(self, engine, task):
        """The image for docker, singularity or apptainer, of a task with these directives."""
        found = re.search(r'^    container "\$\{(.*)\}"$', self.blocks["directives"], re.M | re.S)
        if not found:
            raise Fault("container: expected an expression")
        names = {"workflow": {"containerEngine": engine}, "task": {"ext": {}, "accelerator": None} | task}
        return Expression(re.sub(r"\s+", " ", found[1]), names).value()

    def evaluate(self, label, names):
        """The shell text of script or stub, and the patterns of the outputs by their names."""
        names = dict(names)
        code, _, rest = self.blocks[label].partition('"""')
        text, _, after = rest.partition('"""')
        if after.strip():
            raise Fault(f"{label}: more than one text")
        # A line that begins with ? or : goes on with the one before.
        for line in re.sub(r"\n\s*(?=[?:])", " ", code).splitlines():
            if not line.strip() or line.strip().startswith("//"):
                continue
            found = re.fullmatch(r"\s*(?:def )?(\w+)\s*= (.*)", line)
            if not found:
                raise Fault(f"{label}: {line.strip()}")
            names[found[1]] = Expression(found[2], names).value()
        shell = fill(text, names)
        return shell, {name: fill(pattern[1:-1], names) for name, pattern, _ in self.outputs}


def as_text(value):
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def fill(text, names):
    """A text with its expressions replaced; a backslash takes the meaning of what follows."""
    return re.sub(r"\\(.)|\$\{([^}]*)\}|\$([A-Za-z_]\w*(?:\.\w+)*)",
                  lambda found: found[1] or as_text(Expression(found[2] or found[3], names).value()), text, flags=re.S)


class Expression:
    def __init__(self, text, names):
        self.names, self.tokens, at = names, [], 0
        text = text.rstrip()
        while at < len(text):
            token = TOKEN.match(text, at)
            if not token:
                raise Fault(f"cannot be read: {text[at:]}")
            self.tokens.append(token[0].strip())
            at = token.end()

    def value(self):
        value = self.choice()
        if self.tokens:
            raise Fault(f"cannot be read: {' '.join(self.tokens)}")
        return value

    def take(self, *tokens):
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in tokens else None

    def choice(self):
        value = self.either()
        if self.take("?:"):
            other = self.choice()
            return value or other
        if self.take("?"):
            yes = self.choice()
            if not self.take(":"):
                raise Fault("expected ':'")
            no = self.choice()
            return yes if value else no
        return value

    def either(self):
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = bool(value) or bool(other)
        return value

    def both(self):
        value = self.equal()
        while self.take("&&"):
            other = self.equal()
            value = bool(value) and bool(other)
        return value

    def equal(self):
        value = self.member()
        if self.take("in"):
            return value in self.member()
        if operator := self.take("==", "!="):
            return (value == self.member()) == (operator == "==")
        return value

    def member(self):
        if self.take("!"):
            return not self.member()
        value = self.atom()
        while mark := self.take(".", "?.", "["):
            if mark == "[":
                at = int(self.tokens.pop(0))
                self.take("]")
                value = value[at] if isinstance(value, list) and at < len(value) else None
                continue
            name = self.tokens.pop(0)
            arguments = None
            if self.take("("):
                arguments = [] if self.take(")") else [self.choice()]
                if arguments:
                    self.take(")")
            value = None if value is None and mark == "?." else self.call(value, name, arguments)
        return value

    @staticmethod
    def call(value, name, arguments):
        if arguments is None:
            if not isinstance(value, dict):
                raise Fault(f"{name}: not a member")
            return value.get(name)
        calls = {"contains": lambda text, part: part in text, "endsWith": lambda text, end: text.endswith(end),
                 "toGiga": lambda n: n // 2**30}
        if name not in calls:
            raise Fault(f"{name}() cannot be read")
        return calls[name](value, *arguments)

    def atom(self):
        if not self.tokens:
            raise Fault("a value is missing")
        token = self.tokens.pop(0)
        if token == "(":
            value = self.choice()
            if not self.take(")"):
                raise Fault("expected ')'")
            return value
        if token == "[":
            values = [] if self.tokens[:1] == ["]"] else [self.choice()]
            while self.take(","):
                values.append(self.choice())
            if not self.take("]"):
                raise Fault("expected ']'")
            return values
        if token[0] == '"':
            return fill(token[1:-1], self.names)
        if token[0] == "'":
            return token[1:-1].replace("\\'", "'")
        if token.isdigit():
            return int(token)
        if token in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token]
        if token not in self.names:
            raise Fault(f"{token} is not set")
        return self.names[token]


def main():
    """As `nextflow inspect [-profile ENGINE] -format json FILE`: the image of the process."""
    engine = sys.argv[sys.argv.index("-profile") + 1] if "-profile" in sys.argv else "docker"
    with open(sys.argv[-1], encoding="utf-8") as file:
        process = Process(file.read())
    print(json.dumps({"processes": [{"name": process.name, "container": process.container(engine, {})}]}))


if __name__ == "__main__":
    main()
