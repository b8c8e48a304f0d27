"""meta.yml and environment.yml of a module: read without a library, and held against what nf-core's schemas ask."""
import re

TYPES = ("map", "file", "directory", "string", "integer", "float", "boolean", "list", "eval")
# Of a tool at least one is needed; each has the form of its pattern.
ADDRESSES = {"homepage": r"https?://.+", "documentation": r"(https?|ftp)://.+", "tool_dev_url": r"https?://.+",
             "doi": r"10\.\d{4,9}/[^,]+|no DOI available"}


class Fault(Exception):
    pass


def scalar(text):
    if text.startswith("[") and text.endswith("]"):
        return [scalar(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def read_yaml(text):
    """Maps, lists and texts of one line, which is what the modules have."""
    lines = [[len(line) - len(line.lstrip()), line.strip()] for line in text.splitlines()
             if line.strip() and line != "---" and not line.lstrip().startswith("#")]
    return block(lines, lines[0][0])


def block(lines, indent):
    """The value of the lines from the first on that are indented so far; takes them off."""
    value = None
    while lines and lines[0][0] == indent:
        line = lines[0][1]
        if line.startswith("- "):
            # What follows the dash begins a value of its own, two columns further in.
            value = value if value is not None else []
            lines[0] = [indent + 2, line[2:]]
            is_inner = re.match(r"- |(\"[^\"]*\"|[^\"':]+):( |$)", line[2:])
            value.append(block(lines, indent + 2) if is_inner else scalar(lines.pop(0)[1]))
            continue
        found = re.match(r"(\"[^\"]*\"|[^\"':]+):(?: (.*))?$", line)
        if not found:
            raise Fault(f"cannot be read: {line}")
        lines.pop(0)
        value = value if value is not None else {}
        key = scalar(found[1])
        if key in value:
            raise Fault(f"{key} twice")
        inner = lines and (lines[0][0] > indent or (lines[0][0] == indent and lines[0][1].startswith("- ")))
        value[key] = scalar(found[2]) if found[2] else block(lines, lines[0][0]) if inner else None
    return value


def check_element(name, element):
    if element.get("type") not in TYPES:
        raise Fault(f"{name}: type {element.get('type')}; expected one of {', '.join(TYPES)}")
    if not element.get("description"):
        raise Fault(f"{name}: no description")
    terms = element.get("ontologies") or []
    if any(not re.match(r"https?://", term) for entry in terms for term in entry.values()):
        raise Fault(f"{name}: ontologies are addresses")


def channel(value):
    """The names of one channel, its elements checked."""
    names = []
    for element in value if isinstance(value, list) else [value]:
        for name, properties in element.items():
            check_element(name, properties)
            names.append(name)
    return names


def check_meta(text, process, patterns):
    """patterns: of the outputs by their names."""
    meta = read_yaml(text)
    for key in ("name", "description", "keywords", "tools", "input", "output", "topics", "authors", "maintainers"):
        if not meta.get(key):
            raise Fault(f"{key} is missing")
    if meta["name"] != process.name.lower():
        raise Fault(f"expected the name {process.name.lower()}")
    if len(set(meta["keywords"])) < 3 or len(set(meta["keywords"])) < len(meta["keywords"]):
        raise Fault("keywords: expected three or more, each once")
    for tool in meta["tools"]:
        for name, of in tool.items():
            given = {key: of[key] for key in ADDRESSES if key in of}
            if not of.get("description") or not given or not of.get("licence"):
                raise Fault(f"tools: {name} needs a description, a licence and one of {', '.join(ADDRESSES)}")
            for key, address in given.items():
                if not re.fullmatch(ADDRESSES[key], address):
                    raise Fault(f"tools: {name}: {key}: {address}")
    described = [channel(value) for value in meta["input"]]
    if described != process.inputs:
        raise Fault(f"inputs {described}; expected {process.inputs}")
    outputs = {name: channel(values[0]) for name, values in meta["output"].items()}
    expected = {name: ["meta", pattern] for name, pattern in patterns.items()}
    expected["versions_biogpu"] = ["${task.process}", "biogpu", process.version[1]]
    if outputs != expected or list(outputs) != list(expected):
        raise Fault(f"outputs {outputs}; expected {expected}")
    if {name: channel(values[0]) for name, values in meta["topics"].items()} != {"versions": expected["versions_biogpu"]}:
        raise Fault("topics: expected the versions alone")


def check_environment(text, version):
    environment = read_yaml(text)
    if environment.get("channels") != ["conda-forge", "bioconda"]:
        raise Fault("channels: expected conda-forge and bioconda")
    if environment.get("dependencies") != [f"bioconda::biogpu={version}"]:
        raise Fault(f"dependencies: expected bioconda::biogpu={version}")
