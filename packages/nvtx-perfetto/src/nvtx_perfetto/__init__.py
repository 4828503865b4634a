# SPDX-License-Identifier: Apache-2.0
"""
An open NVTX tool: whatever NVTX says becomes a Perfetto trace.

Data that has timestamps goes through the NVTXW backend::

    import nvtx.writer
    import nvtx_perfetto

    backend = nvtx.writer.load_backend(nvtx_perfetto.library_path())
    with nvtx.writer.Session("example", backend=backend) as session:
        with session.create_stream("rank 0") as stream:
            stream.write_pushpop(1_000, 2_000, message="step")

which writes ``example.pftrace``. Open it at https://ui.perfetto.dev.

What a program says live, through any copy of NVTX, is recorded by running it with
``nvtx-perfetto run -o train.pftrace -- python train.py``, or by `start`.
"""

from ._version import __version__
from .errors import JoinError, LibraryNotFoundError, PerfettoError, RecordingError
from .library import last_error, library_path, library_version
from .live import Stats, flush, start, stats

__all__ = [
    "JoinError",
    "LibraryNotFoundError",
    "PerfettoError",
    "RecordingError",
    "Stats",
    "__version__",
    "flush",
    "last_error",
    "library_path",
    "library_version",
    "start",
    "stats",
]
