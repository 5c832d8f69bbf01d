"""Runs the copy example as a user would, on good input and bad.

Usage: copy_file_test.py [--quick] COPY_FILE. The backend is whatever SLUICE_BACKEND says. --quick
leaves the large file out.
"""

import os
import pathlib
import pty
import re
import resource
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = sys.argv.pop()
QUICK = "--quick" in sys.argv
sys.argv = sys.argv[:1]
MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * MEGABYTE
# Whoever started this may have told it to ignore SIGINT, as a shell does in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)


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

    def expect_nothing_left(self, *names):
        self.assertEqual(sorted(os.listdir(self.here)), sorted(names))

    def start(self, *arguments):
        command = [PROGRAM, *map(str, arguments)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for_partial_copy(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for path in self.here.glob(".copy_file.*"):
                if path.stat().st_size > 0:
                    return path
            time.sleep(0.001)
        self.fail("no copy was begun")

    def test_sizes(self):
        for size in (0, 1, 4095, 4096, 4097, 3 * MEGABYTE + 17):
            with self.subTest(size=size):
                self.source.write_bytes(os.urandom(size))
                done = run(self.source, self.target)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.source.read_bytes(), self.target.read_bytes())
                self.expect_nothing_left("source", "target")

    @unittest.skipIf(QUICK, "a large file")
    def test_large_sparse_file(self):
        with open(self.source, "wb") as file:
            file.seek(GIGABYTE)
            file.write(b"x")
        done = run(self.source, self.target, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("verified     the copy reads back the same", done.stdout)
        self.assertEqual(self.target.stat().st_size, GIGABYTE + 1)

    def test_digest(self):
        # Vectors of XXH64 with seed 0 (xxHash's own, and xxhsum of these texts).
        vectors = {
            b"": "ef46db3751d8e999",
            b"a": "d24ec4f1a98c6e5b",
            b"abc": "44bc2cf5ad770999",
            b"Nobody inspects the spammish repetition": "fbcea83c8a378bf1",
        }
        for text, digest in vectors.items():
            with self.subTest(text=text):
                self.source.write_bytes(text)
                self.assertIn("XXH64 " + digest, run(self.source, self.target).stdout)

    def test_digest_does_not_depend_on_the_buffer(self):
        self.source.write_bytes(os.urandom(10007))
        seen = set()
        for size in (1, 7, 31, 32, 33, 4096, 65536):
            done = run(self.source, self.target, "--buffer", size)
            seen.add(re.search(r"XXH64 (\w{16})", done.stdout)[1])
        self.assertEqual(len(seen), 1)

    def test_buffer_sizes(self):
        self.source.write_bytes(os.urandom(MEGABYTE + 1))
        for size in (1000, 4096, "64K", "1M"):
            with self.subTest(buffer=size):
                done = run(self.source, self.target, "--buffer", size)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.source.read_bytes(), self.target.read_bytes())

    def test_report_names_the_backend(self):
        self.source.write_bytes(b"x")
        done = run(self.source, self.target, "--backend", "threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("threads, not io_uring", done.stdout)

    def test_no_allocations_after_warm_up(self):
        self.source.write_bytes(os.urandom(4 * MEGABYTE))
        done = run(self.source, self.target, "--buffer", 4096)
        self.assertRegex(done.stdout, r"allocations  (0\.0000 per operation|not counted in this)")

    def test_no_verify(self):
        self.source.write_bytes(b"x")
        done = run(self.source, self.target, "--no-verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--no-verify", done.stdout)

    def test_existing_destination_is_replaced(self):
        self.source.write_text("new")
        self.target.write_text("old, and longer")
        self.target.chmod(0o640)
        done = run(self.source, self.target)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.target.read_text(), "new")
        self.assertEqual(self.target.stat().st_mode & 0o777, 0o640)

    def test_link_as_destination_keeps_pointing(self):
        self.source.write_text("new")
        link = self.here / "link"
        for old in (None, "old"):
            with self.subTest(old=old):
                link.unlink(missing_ok=True)
                self.target.unlink(missing_ok=True)
                if old:
                    self.target.write_text(old)
                link.symlink_to("target")
                self.assertEqual(run(self.source, link).returncode, 0)
                self.assertTrue(link.is_symlink())
                self.assertEqual(self.target.read_text(), "new")

    def test_bar_on_a_terminal(self):
        self.source.write_bytes(os.urandom(64 * MEGABYTE))
        ours, theirs = pty.openpty()
        shown = []

        def read():
            try:
                while data := os.read(ours, 4096):
                    shown.append(data)
            except OSError:
                pass  # how a terminal ends

        reader = threading.Thread(target=read)
        reader.start()
        done = run(self.source, self.target, "--buffer", "4K", capture_output=False, stdout=theirs)
        os.close(theirs)
        reader.join()
        os.close(ours)
        self.assertEqual(done.returncode, 0)
        text = b"".join(shown).decode()
        self.assertIn("copied       67108864 bytes", text)
        for bar in re.findall(r"\r(\[[^\r]*left)", text):
            self.assertRegex(bar, r"^\[#* *\] +\d+%  [\d.]+ \w+ of 64.0 MiB, .*/s, \d+:\d\d left$")

    def test_missing_source_keeps_the_destination(self):
        self.target.write_text("precious")
        done = run(self.source, self.target)
        self.expect_refusal(done)
        self.assertIn(str(self.source), done.stderr)
        self.assertIn("No such file or directory", done.stderr)
        self.assertEqual(self.target.read_text(), "precious")

    def test_directory_as_source(self):
        self.target.write_text("precious")
        done = run(self.here, self.target)
        self.expect_refusal(done)
        self.assertIn(f"open '{self.here}': Is a directory", done.stderr)
        self.assertEqual(self.target.read_text(), "precious")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_unreadable_source(self):
        self.source.write_text("x")
        self.source.chmod(0)
        done = run(self.source, self.target)
        self.expect_refusal(done)
        self.assertIn("Permission denied", done.stderr)
        self.assertFalse(self.target.exists())

    def test_pseudo_file_as_source(self):
        done = run("/proc/self/cmdline", self.target)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"cmdline", self.target.read_bytes())

    def test_devices(self):
        self.source.write_text("x")
        self.assertEqual(run(self.source, "/dev/null").returncode, 0)
        self.assertEqual(run("/dev/null", self.target).returncode, 0)
        self.assertEqual(self.target.read_bytes(), b"")

    def test_pipes(self):
        data = os.urandom(MEGABYTE + 17)
        self.source.write_bytes(data)
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        into, out = self.start(self.source, pipe), self.start(pipe, self.target)
        for process in (into, out):
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.target.read_bytes(), data)

    def test_directory_as_destination(self):
        self.source.write_text("x")
        done = run(self.source, self.here)
        self.expect_refusal(done)
        self.assertIn(f"open '{self.here}': Is a directory", done.stderr)

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

    def test_standard_output_as_destination(self):
        """The report goes elsewhere than the copy."""
        data = os.urandom(MEGABYTE + 17)
        self.source.write_bytes(data)
        pipe = run(self.source, "/dev/stdout", text=False)
        self.assertEqual(pipe.returncode, 0, pipe.stderr)
        self.assertEqual(pipe.stdout, data)
        self.assertIn(b"copied       1048593 bytes", pipe.stderr)
        with open(self.target, "wb") as output:
            file = run(self.source, "/dev/stdout", capture_output=False, stdout=output,
                       stderr=subprocess.PIPE)
        self.assertEqual(file.returncode, 0, file.stderr)
        self.assertEqual(self.target.read_bytes(), data)
        self.assertIn("copied       1048593 bytes", file.stderr)

    def test_report_that_cannot_be_written(self):
        self.source.write_text("x")
        with open("/dev/full", "wb") as full:
            copied = run(self.source, self.target, capture_output=False, stdout=full,
                         stderr=subprocess.PIPE)
            helped = run("--help", capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.expect_refusal(copied)
        self.assertEqual(copied.returncode, 3)
        self.assertEqual(self.target.read_text(), "x")
        self.expect_refusal(helped)
        self.assertEqual(helped.returncode, 1)

    def test_closed_standard_descriptors(self):
        """No report gets into a file that was given a standard number."""
        data = os.urandom(MEGABYTE)
        self.source.write_bytes(data)
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=closed):
                command = shlex.join([PROGRAM, str(self.source), str(self.target)])
                done = subprocess.run(
                    ["sh", "-c", command + "".join(f" {number}>&-" for number in closed)],
                    capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 3 if 1 in closed else 0, done.stderr)
                self.assertEqual(self.target.read_bytes(), data)

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

        for old in (None, "precious"):
            with self.subTest(old=old):
                if old:
                    self.target.write_text(old)
                done = run(self.source, self.target, preexec_fn=limit)
                self.expect_refusal(done)
                self.assertIn(f"write '{self.target}': File too large", done.stderr)
                self.expect_nothing_left("source", *["target"] * bool(old))
        self.assertEqual(self.target.read_text(), "precious")

    def test_interrupted(self):
        self.source.write_bytes(b"x")
        os.truncate(self.source, GIGABYTE)
        self.target.write_text("precious")
        process = self.start(self.source, self.target, "--buffer", 4096)
        self.wait_for_partial_copy()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertEqual(self.target.read_text(), "precious")
        self.expect_nothing_left("source", "target")

    def test_interrupted_while_a_pipe_is_opened(self):
        self.source.write_text("x")
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        for arguments in ((pipe, self.target), (self.source, pipe)):
            with self.subTest(arguments=arguments):
                process = self.start(*arguments)
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130)
                self.assertEqual(len(errors.splitlines()), 1, errors)
                self.expect_nothing_left("source", "pipe")

    def test_source_that_changes_meanwhile(self):
        """What is there when it is read is copied; the copy is checked against that."""
        for change in (MEGABYTE, 256 * MEGABYTE):
            with self.subTest(length=change):
                self.source.write_bytes(b"")
                os.truncate(self.source, 64 * MEGABYTE)
                process = self.start(self.source, self.target, "--buffer", 4096)
                self.wait_for_partial_copy()
                os.truncate(self.source, change)
                output, errors = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, errors)
                self.assertIn("reads back the same", output)

    def test_wrong_usage(self):
        wrong = [(), ("one",), ("a", "b", "c"), ("a", ""), ("a", "b", "--backend", "none"),
                 ("a", "b", "--buffer"), ("a", "b", "--unknown")]
        wrong += [("a", "b", "--buffer", size) for size in ("x", "0", "-1", "1T", "2G", "")]
        for arguments in wrong:
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.expect_refusal(done)
                self.assertEqual(done.returncode, 2)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Usage: copy_file", done.stdout)


if __name__ == "__main__":
    unittest.main()
