"""Checks that the README shows examples/readme.cpp as it is compiled, and in few enough lines."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = 20


def main():
    source = (ROOT / "examples/readme.cpp").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    if source not in blocks:
        print("no ```cpp block of README.md equals examples/readme.cpp")
        return 1
    count = len([line for line in source.splitlines() if line.strip()])
    if count > LINES:
        print(f"examples/readme.cpp has {count} lines that are not empty, at most {LINES}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
