"""run(): measures a block of code as a whole, with all processes that it starts."""
import contextlib
import errno
import fcntl
import os
import shutil
import sys
import tempfile
import time

from . import _core
from ._log import log
from ._monitor import Monitor

_DIRECTORY = "ASSAY_JOURNAL_DIR"


class Run:
    """A block that is measured: `with assay.run() as record:`.

    While the block runs, track() and operation() write into a journal of its own, and so do processes that it starts by fork or
    spawn. During the block, the methods of Record show what was measured so far; after it, they show everything.
    """

    def __init__(self, name=None, *, memory=True, trace_events=0, samples=0, save=None):
        self._name = name
        self._options = {"memory": memory, "trace_events": trace_events, "samples": samples}
        self._save = save
        self._made = None
        self._directory = None

    def __enter__(self):
        if self._directory is not None:
            raise RuntimeError("this run is under way already; call assay.run() for another one")
        if self._save is not None:
            self._path = _writable(self._save)
        self._made = None
        self._outer, self._directory, self._lock = _private_directory()
        self._outside = os.environ.get(_DIRECTORY)
        self._outside_path = os.path.abspath(self._outside) if self._outside else None     # the block may change the folder
        os.environ[_DIRECTORY] = self._directory
        self._process = os.getpid()
        try:
            self._monitor = Monitor(self._name, **self._options)
        except BaseException:
            self._leave()
            raise
        self._before_monitor = _core.set_default_monitor(self._monitor)
        self._before = _core.usage()
        return self

    def __exit__(self, kind, error, trace):
        if os.getpid() != self._process:
            return                      # a forked child leaves the block; only its parent makes the record
        try:
            if not self._monitor.closed:
                self._monitor.resolve_gpu()
            self._made = self._snapshot()
            _tell_what_is_lost(self._made)
            if self._save is not None:
                self._made.save(self._path)
                log("info", "saved the record of the run to %s", os.fsdecode(self._save))
        finally:
            if _core.default_monitor() is self._monitor:
                _core.set_default_monitor(self._before_monitor)
            self._monitor.close()
            self._leave()

    def _leave(self):
        if self._outside is None:
            os.environ.pop(_DIRECTORY, None)
        else:
            os.environ[_DIRECTORY] = self._outside
        if self._outside_path is not None:
            try:
                _hand_over(self._directory, self._outside_path)
            except OSError as error:                # an enclosing `assay run` that has ended removed its directory
                log("warning", "the enclosing run does not get the journals: %s", error)
        with contextlib.suppress(OSError, TypeError):       # the program may have closed all descriptors, or there is no lock
            if os.path.samestat(os.fstat(self._lock), os.stat(os.path.join(self._outer, "lock"))):
                os.close(self._lock)
        shutil.rmtree(self._outer, ignore_errors=True)
        self._directory = None

    def _snapshot(self):
        return _core.run_record(self._directory, self._before, [sys.executable or "python3", *sys.argv], self._name)

    @property
    def record(self):
        """The Record of what was measured so far; after the block, of everything."""
        if self._made is not None:
            return self._made
        if self._directory is None:
            raise RuntimeError("nothing was measured: use `with assay.run() as record:`")
        return self._snapshot()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.record, name)

    def __str__(self):
        return str(self.record)

    def _repr_html_(self):
        return self.record._repr_html_() if self._made is not None or self._directory is not None else None


def _private_directory():
    """Make a directory that only its owner can read, for journals. The directory around it has a lock file, which stays locked until this process
    ends, in whatever way. So the next `assay run` can remove what a killed process left (cli/scratch_dir.c). Without the lock, nobody does that."""
    outer = tempfile.mkdtemp(prefix="assay-")
    inner = os.path.join(outer, "all-journals")
    os.mkdir(inner, 0o700)
    lock = None
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot_id = file.read(36)
        unnamed = os.path.join(outer, "lock-to-be")     # it is locked before it gets its name
        lock = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.write(lock, boot_id)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(unnamed, os.path.join(outer, "lock"))
    except OSError:
        if lock is not None:
            os.close(lock)
        lock = None
    return outer, inner, lock


def _hand_over(directory, outside):
    """Move journals to the directory of an enclosing `assay run`, which reads them too. A program that replaces itself by exec has used their names
    before."""
    for name in os.listdir(directory):
        path, target = os.path.join(directory, name), os.path.join(outside, name)
        if os.path.lexists(target):
            stem, suffix = os.path.splitext(target)
            target = f"{stem}.{time.monotonic_ns()}{suffix}"
        try:
            os.rename(path, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy(path, target)


def _copy(path, target):
    """Copy a journal to another file system. Of its 256 MiB a few KiB are data; the rest are holes, and stay holes."""
    if os.path.islink(path):                        # the reason why a journal could not be made
        os.symlink(os.readlink(path), target)
        return
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copy, open(path, "rb") as source:
        try:
            copy.truncate(os.fstat(source.fileno()).st_size)
            for start, end in _data(source.fileno()):
                os.lseek(copy.fileno(), start, os.SEEK_SET)
                while start < end and (sent := os.sendfile(copy.fileno(), source.fileno(), start, end - start)):
                    start += sent
        except OSError:
            os.unlink(target)
            raise


def _data(file):
    """The begin and the end of each part of an open file that is no hole."""
    end = 0
    while True:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError:                             # ENXIO: there is only a hole left
            return
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end


def _writable(path):
    """The absolute path of a file that can be written, so that no long measurement ends with an error, whatever folder it changes to."""
    path = os.path.abspath(os.fsdecode(path))
    folder = os.path.dirname(path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return path                     # a pipe or a device: no file takes its place
    for failed, number in ((os.path.isdir(path), errno.EISDIR), (not os.path.isdir(folder), errno.ENOENT),
                           (not os.access(folder, os.W_OK | os.X_OK), errno.EACCES)):
        if failed:
            raise OSError(number, f"the record of the run cannot be saved: {os.strerror(number)}", path)
    return path


def _tell_what_is_lost(record):
    lost = {what: count for what, count in record.to_dict()["integrity"].items() if count}
    if lost:
        log("warning", "the record of the run is not complete: %s", ", ".join(f"{what.replace('_', ' ')}: {count}" for what, count in lost.items()))


def run(name=None, *, memory=True, trace_events=0, samples=0, save=None):
    """Measure a block with all spans in it and all processes that it starts:

        with assay.run(save="run.json") as record:
            train()
        print(record)

    memory, trace_events and samples are options of Monitor. save: a file for the JSON of the record. A path that cannot be written is an
    error when the block begins.
    """
    return Run(name, memory=memory, trace_events=trace_events, samples=samples, save=save)
