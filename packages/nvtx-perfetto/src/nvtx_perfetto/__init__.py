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
"""

from ._version import __version__
from .errors import LibraryNotFoundError, PerfettoError
from .library import last_error, library_path, library_version

__all__ = [
    "LibraryNotFoundError",
    "PerfettoError",
    "__version__",
    "last_error",
    "library_path",
    "library_version",
]
