"""Checks that the library which users get has no trace of the fault seam.

Usage: seam_test.py NM RELEASED_LIBRARY SEAMED_LIBRARY. The seamed one shows that the names looked
for are the right ones.
"""

import subprocess
import sys

NAMES = ("fault_hook", "raw_call_number")


def traces(nm, library):
    command = [nm, "--demangle", library]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line for line in output.splitlines() if any(name in line for name in NAMES)]


def main():
    nm, released, seamed = sys.argv[1:]
    found = traces(nm, released)
    for line in found:
        print(f"{released}: {line}")
    if not traces(nm, seamed):
        print(f"{seamed}: none of {', '.join(NAMES)}, so this test looks for the wrong names")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
