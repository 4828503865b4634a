# SPDX-License-Identifier: Apache-2.0
"""
The NVTXW interface through ctypes, for members that the nvtx package never calls.

Every method checks the result code and raises `Refused` with the backend's own words.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import nvtx_perfetto

REALTIME, MONOTONIC, BOOTTIME = 12, 14, 17
_MEMBERS = (
    "SessionBegin SessionEnd DomainRegister CategoryRegister StringRegister ResourceRegister "
    "ScopeRegister SchemaRegister EnumRegister CounterRegister TimeDomainRegister StreamOpen "
    "StreamClose EventWrite EventBatchWrite CounterWrite CounterNoValueWrite CounterBatchWrite "
    "TimeSyncPointWrite TimeSyncPointTableWrite TimestampConversionFactorWrite"
).split()


class Refused(Exception):
    """A member answered with another code than success."""

    def __init__(self, member: str, code: int) -> None:
        super().__init__(f"{member}: {code}: {nvtx_perfetto.last_error()}")
        self.code = code


def _struct(*fields: tuple[str, object]) -> type[ctypes.Structure]:
    return type("Struct", (ctypes.Structure,), {"_fields_": list(fields)})


U64, I64, TEXT, POINTER = ctypes.c_uint64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
SessionAttributes = _struct(("size", U64), ("name", TEXT), ("config", TEXT))
DomainAttributes = _struct(("size", U64), ("name", TEXT))
StreamAttributes = _struct(
    ("size", U64),
    ("name", TEXT),
    ("domain", POINTER),
    ("scope", U64),
    ("clock", U64),
    ("interleaving", ctypes.c_int16),
    ("ordering", ctypes.c_int16),
    ("skid", ctypes.c_int32),
    ("amount", I64),
)
TimeDomainAttributes = _struct(
    ("scope", U64), ("type", U64), ("id", U64), ("flags", U64), ("resolution", I64), ("start", U64)
)
CounterAttributes = _struct(
    ("size", U64),
    ("schema", U64),
    ("name", TEXT),
    ("description", TEXT),
    ("scope", U64),
    ("semantics", POINTER),
    ("id", U64),
)
TimeSemantics = _struct(
    ("size", ctypes.c_uint32),
    ("semantic", ctypes.c_uint16),
    ("version", ctypes.c_uint16),
    ("next", POINTER),
    ("clock", U64),
)
SyncPoint = _struct(("src", I64), ("dst", I64))


class Session:
    """One session, its default domain and the handles it gave."""

    def __init__(self, path: Path, config: str = "") -> None:
        library = ctypes.CDLL(str(nvtx_perfetto.library_path()))
        table = ctypes.POINTER(POINTER)()
        assert library.nvtxwGetInterface(2, ctypes.byref(table)) == 0
        self._calls = {
            name: ctypes.CFUNCTYPE(ctypes.c_int32)(table[i]) for i, name in enumerate(_MEMBERS)
        }
        lines = f"output={path}\n{config}".encode()
        attributes = SessionAttributes(ctypes.sizeof(SessionAttributes), b"session", lines)
        self.handle = POINTER()
        self.call("SessionBegin", ctypes.byref(attributes), ctypes.byref(self.handle))
        self.domain = POINTER()
        named = DomainAttributes(ctypes.sizeof(DomainAttributes), b"dom")
        self.call("DomainRegister", self.handle, ctypes.byref(named), ctypes.byref(self.domain))

    def call(self, member: str, *arguments: object) -> None:
        code = self._calls[member](*arguments)
        if code != 0:
            raise Refused(member, code)

    def end(self) -> None:
        self.call("SessionEnd", self.handle)

    def time_domain(self, resolution: int = 0, timestamp_type: int = 0, start: int = 0) -> int:
        given = TimeDomainAttributes(0, timestamp_type, 0, 0, resolution, start)
        out = U64()
        self.call("TimeDomainRegister", self.domain, ctypes.byref(given), ctypes.byref(out))
        return out.value

    def stream(self, name: str, clock: int) -> ctypes.c_void_p:
        given = StreamAttributes(
            ctypes.sizeof(StreamAttributes), name.encode(), self.domain, 0, clock, 0, 0, 0, 0
        )
        out = POINTER()
        self.call("StreamOpen", self.handle, ctypes.byref(given), ctypes.byref(out))
        return out

    def counter(self, name: str, clock: int = 0) -> int:
        """Register a counter of int64 samples, which serve as timed events."""
        int64 = 17  # NVTX_PAYLOAD_ENTRY_TYPE_INT64
        time = TimeSemantics(ctypes.sizeof(TimeSemantics), 2, 1, None, clock)
        semantics = ctypes.addressof(time) if clock else None
        given = CounterAttributes(
            ctypes.sizeof(CounterAttributes), int64, name.encode(), None, 0, semantics, 0
        )
        out = U64()
        self.call("CounterRegister", self.domain, ctypes.byref(given), ctypes.byref(out))
        return out.value

    def sample(self, stream: ctypes.c_void_p, counter: int, time: int, value: int) -> None:
        data = I64(value)
        self.call("CounterWrite", stream, I64(time), U64(counter), ctypes.byref(data), U64(8))

    def sync_points(
        self, stream: ctypes.c_void_p, first: int, second: int, *points: tuple[int, int]
    ) -> None:
        table = (SyncPoint * len(points))(*(SyncPoint(a, b) for a, b in points))
        arguments = (U64(first), U64(second), table, U64(len(points)))
        self.call("TimeSyncPointTableWrite", stream, *arguments)

    def factor(
        self, stream: ctypes.c_void_p, source: int, to: int, slope: float, anchor: tuple[int, int]
    ) -> None:
        arguments = (U64(source), U64(to), ctypes.c_double(slope), I64(anchor[0]), I64(anchor[1]))
        self.call("TimestampConversionFactorWrite", stream, *arguments)
