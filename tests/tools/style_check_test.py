"""Tests the style test: it must report a fault of each kind, and nothing in a clean tree."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

LONG_BODY = "int f(int x) {\n" + "    ++x;\n" * 90 + "    return x;\n}\n"
FAULTS = {
    "line too long": ("runtime/a.cpp", "// " + "x" * 120 + "\n"),
    "too many lines": ("completion/a.cpp", "\n" * 460),
    "function too long": ("platform/a.cpp", "namespace n {\n" + LONG_BODY + "}\n"),
    "which is above it": ("platform/b.cpp", "#include <sluice/runtime/x.hpp>\n"),
    "outside the system folders": ("completion/b.hpp", "#include <liburing.h>\n"),
    "is not installed": ("completion/c.hpp", "#include <sluice/platform/linux/x.hpp>\n"),
    "include each other as": ("strategies/a.cpp", '#include "b.hpp"\n'),
    "not by macro": ("strategies/b.cpp", "#ifdef __linux__\n#endif\n#if defined(_WIN32)\n#endif\n"),
    "unfinished work": ("examples/a.cpp", "// TO" + "DO later\n"),
}
CLEAN = {
    "platform/linux/u.hpp": "#include <liburing.h>\n",
    "platform/linux/u.cpp": "#include <sluice/platform/linux/u.hpp>\n",
    "runtime/a.cpp": "#include <sluice/platform/x.hpp>\n#include <sluice/sluice.hpp>\n",
    # Long, but no function: a type, and braces inside strings and comments.
    "runtime/b.hpp": "struct s {\n" + "    int f() { return '{'; } // {\n" * 90 + "};\n",
}


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "CMakeLists.txt").touch()
        (root / "README.md").touch()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "tests/tools").mkdir(parents=True)
        (root / "tests/tools/style_exceptions.txt").touch()
        script = root / "tests/tools/style_test.py"
        script.write_text((HERE / "style_test.py").read_text())
        command = [sys.executable, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def main():
    failures = 0
    for text, (name, content) in FAULTS.items():
        code, output = run({name: content})
        if code != 1 or text not in output or "Traceback" in output:
            failures += 1
            print(f"not found in {name}: {text}\n{output}")
    code, output = run(CLEAN)
    if code != 0:
        failures += 1
        print(f"a clean tree was refused:\n{output}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
