"""Runs the copy example as a user would, on good input and bad.

Usage: copy_file_test.py COPY_FILE. The backend is whatever SLUICE_BACKEND says.
"""

import os
import pathlib
import resource
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()
MEGABYTE = 1024 * 1024


def run(*arguments, **options):
    command = [PROGRAM, *map(str, arguments)]
    options = {"capture_output": True, "text": True, "timeout": 120, "check": False, **options}
    return subprocess.run(command, **options)


class CopyFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)
        self.source = self.here / "source"
        self.target = self.here / "target"

    def expect_refusal(self, done):
        """One line that says why, and nothing but a non-zero exit code besides."""
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertGreater(done.returncode, 0, "ended by a signal")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_sizes(self):
        for size in (0, 1, 4095, 4096, 4097, 3 * MEGABYTE + 17):
            with self.subTest(size=size):
                self.source.write_bytes(os.urandom(size))
                done = run(self.source, self.target)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.source.read_bytes(), self.target.read_bytes())

    def test_buffer_sizes(self):
        self.source.write_bytes(os.urandom(MEGABYTE + 1))
        for size in (1000, 4096, MEGABYTE):
            with self.subTest(buffer=size):
                done = run(self.source, self.target, "--buffer", size)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.source.read_bytes(), self.target.read_bytes())

    def test_report_names_the_backend(self):
        self.source.write_bytes(b"x")
        done = run(self.source, self.target, "--backend", "threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("threads", done.stdout)

    def test_missing_source_keeps_the_destination(self):
        self.target.write_text("precious")
        done = run(self.source, self.target)
        self.expect_refusal(done)
        self.assertIn(str(self.source), done.stderr)
        self.assertIn("No such file or directory", done.stderr)
        self.assertEqual(self.target.read_text(), "precious")

    def test_directory_as_source(self):
        self.expect_refusal(run(self.here, self.target))
        self.assertFalse(self.target.exists())

    def test_directory_as_destination(self):
        self.source.write_text("x")
        self.expect_refusal(run(self.source, self.here))

    def test_destination_in_a_missing_folder(self):
        self.source.write_text("x")
        self.expect_refusal(run(self.source, self.here / "none" / "target"))

    def test_onto_itself(self):
        self.source.write_text("precious")
        os.link(self.source, self.here / "hard")
        (self.here / "soft").symlink_to(self.source)
        for name in ("source", "hard", "soft", "./source"):
            with self.subTest(destination=name):
                self.expect_refusal(run(self.source, self.here / name))
                self.assertEqual(self.source.read_text(), "precious")

    def test_full_disk(self):
        self.source.write_bytes(os.urandom(MEGABYTE))
        full = "/dev/full"
        if os.geteuid() == 0:
            # Whoever may remove the system's device gets one of his own to be tested with.
            full = self.here / "full"
            os.mknod(full, 0o666 | stat.S_IFCHR, os.stat("/dev/full").st_rdev)
        done = run(self.source, full)
        self.expect_refusal(done)
        self.assertIn("No space left on device", done.stderr)
        self.assertTrue(os.path.exists(full), "removed a device")

    def test_file_size_limit_removes_the_partial_copy(self):
        self.source.write_bytes(os.urandom(4 * MEGABYTE))
        limits = (2 * MEGABYTE, 2 * MEGABYTE)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

        self.expect_refusal(run(self.source, self.target, preexec_fn=limit))
        self.assertFalse(self.target.exists())

    def test_wrong_usage(self):
        backend, buffer = ("a", "b", "--backend", "none"), ("a", "b", "--buffer", "x")
        for arguments in ((), ("one",), backend, buffer):
            with self.subTest(arguments=arguments):
                self.assertNotEqual(run(*arguments).returncode, 0)


if __name__ == "__main__":
    unittest.main()
