"""Checks what a reader of the sources relies on and no compiler enforces.

Usage: style_test.py [SOURCE_FOLDER]. Prints one line per finding; exit code 1 if one is an error.

style_exceptions.txt is a ratchet: each line lets one file off one rule up to a number that may
only shrink. An entry that is no longer needed is an error too: the list cannot outlive its reasons.
"""

import pathlib
import re
import sys

LAYERS = ["runtime", "strategies", "completion", "platform"]  # each may include what follows it
CODE = LAYERS + ["tests", "benchmarks", "examples", "cmake", "scripts", "docs", ".ci"]
SOURCES = {".cpp", ".hpp"}

FILE_WARN, FILE_LIMIT, TEST_FILE_LIMIT = 350, 450, 600
LINE_LIMIT = 100
FUNCTION_LIMIT, TEST_FUNCTION_LIMIT = 70, 100

OWN_SYSTEM_FOLDERS = ("platform/linux/", "platform/posix/", "platform/windows/")
UNINSTALLED_FOLDERS = ("platform/linux/", "platform/windows/")
SYSTEM_HEADER = re.compile(
    r"(liburing|linux/|asm/|windows\.h|winsock|ws2|mswsock|winternl|ntstatus)", re.I)
SYSTEM_MACRO = re.compile(r"^\s*#\s*(if|elif).*\b(_WIN32|__linux__|__APPLE__|__unix__|__MINGW32__)")
# Written in two parts, so that this file does not find itself.
LEFTOVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",  # and not the separators of a number
    re.S)
TYPE_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern|concept)\b")


class Report:
    def __init__(self, exceptions):
        self.exceptions = exceptions
        self.used = set()
        self.errors = 0

    def error(self, path, line, text):
        print(f"{path}:{line}: error: {text}")
        self.errors += 1

    def limit(self, rule, path, line, value, allowed, text):
        """An error when `value` exceeds `allowed`, unless the ratchet lets this file go further."""
        if value <= allowed:
            return
        if value <= self.exceptions.get((rule, path), 0):
            self.used.add((rule, path))
            return
        self.error(path, line, f"{text} ({value}, at most {allowed})")


def read_exceptions(path):
    exceptions = {}
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            rule, name, value = words
            exceptions[rule, name] = int(value)
    return exceptions


def blank(match):
    """Keeps the line count of a comment or string, and nothing a brace counter could trip over."""
    return "\n" * match.group(0).count("\n")


def functions(text):
    """First line and length of each outermost function body.

    What stands before a brace tells its kind: a type or namespace opens a scope to look into, and
    anything with parameters there is a function, whose own braces belong to it.
    """
    code = NOT_CODE.sub(blank, text)
    code = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)
    depth_of_function = None
    start = depth = 0
    head = ""
    line = 1
    for character in code:
        if character == "\n":
            line += 1
        if character == "{":
            depth += 1
            is_scope = TYPE_SCOPE.search(head.split("(")[0])
            if depth_of_function is None and "(" in head and not is_scope:
                depth_of_function, start = depth, line
            head = ""
        elif character == "}":
            if depth == depth_of_function:
                yield start, line - start + 1
                depth_of_function = None
            depth -= 1
            head = ""
        elif character == ";":
            head = ""
        else:
            head += character


def check_sizes(report, path, lines, text):
    test = path.startswith("tests/")
    limit = TEST_FILE_LIMIT if test else FILE_LIMIT
    if FILE_WARN < len(lines) <= limit and not test:
        print(f"{path}: warning: {len(lines)} lines, better at most {FILE_WARN}")
    report.limit("file", path, len(lines), len(lines), limit, "too many lines")

    long_lines = [(len(line), number) for number, line in enumerate(lines, 1)]
    for length, number in long_lines:
        report.limit("line", path, number, length, LINE_LIMIT, "line too long")

    if pathlib.PurePath(path).suffix in SOURCES:
        limit = TEST_FUNCTION_LIMIT if test else FUNCTION_LIMIT
        for start, length in functions(text):
            report.limit("function", path, start, length, limit, "function too long")


def check_includes(report, path, lines):
    layer = path.split("/")[0]
    header = path.endswith(".hpp")
    for number, line in enumerate(lines, 1):
        if SYSTEM_MACRO.match(line) and not path.startswith("platform/config"):
            report.error(path, number, "systems are told apart by file in CMake, not by macro")
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, name = match.groups()
        if quote == '"':
            report.error(path, number, "library files include each other as <sluice/...>")
        if header and not path.startswith(OWN_SYSTEM_FOLDERS) and SYSTEM_HEADER.match(name):
            report.error(path, number, f"<{name}> outside the system folders of platform/")
        if not name.startswith("sluice/"):
            continue
        inner = name.removeprefix("sluice/")
        target = inner.split("/")[0] if "/" in inner else "runtime"
        if target not in LAYERS:
            report.error(path, number, f"no layer is called {target}")
        elif LAYERS.index(target) < LAYERS.index(layer):
            report.error(path, number, f"{layer}/ must not include {target}/, which is above it")
        if not header or path.startswith(UNINSTALLED_FOLDERS):
            continue
        if inner.startswith(UNINSTALLED_FOLDERS):
            report.error(path, number, f"<{name}> is not installed: no public header may need it")


def check_file(report, root, file):
    path = file.relative_to(root).as_posix()
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if LEFTOVER.search(line):
            report.error(path, number, "unfinished work is not left in the sources")
    if file.suffix in {".md", ".json", ".map"}:
        return
    check_sizes(report, path, lines, text)
    if path.split("/")[0] in LAYERS:
        check_includes(report, path, lines)


def main():
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here.parents[2]
    report = Report(read_exceptions(here.parent / "style_exceptions.txt"))

    files = [root / "CMakeLists.txt", root / "README.md"]
    for folder in CODE:
        files += sorted(f for f in (root / folder).rglob("*") if f.is_file())
    files = [f for f in files if "__pycache__" not in f.parts]
    for file in files:
        check_file(report, root, file)

    for rule, path in sorted(report.exceptions.keys() - report.used):
        report.error(path, 1, f"no longer needs its exception from rule '{rule}'")
    print(f"{len(files)} files, {report.errors} errors")
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main())
