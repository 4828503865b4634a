# SPDX-License-Identifier: Apache-2.0
"""Write data that already has timestamps into a timeline.

>>> from nvtx_replay import open_session                            # doctest: +SKIP
>>> with open_session("run.pftrace") as session:                    # doctest: +SKIP
...     with session.stream("requests", domain="server", time_domain="realtime") as stream:
...         stream.write_ranges({"start": [100], "end": [250], "message": ["GET /"]})

Data goes through ``nvtx.writer`` to a backend: Perfetto's format by ``nvtx-perfetto``, or
Nsight Systems' by its ``nsys_writer``. What a timeline could not show as it stands is found
before it gets there.
"""

from nvtx_replay._version import __version__
from nvtx_replay.batch import Batch
from nvtx_replay.errors import (
    BackendError,
    BackendNotFoundError,
    ConfigError,
    ReplayError,
    RowError,
    StreamError,
    TableError,
)
from nvtx_replay.report import Report
from nvtx_replay.session import Session, open_session
from nvtx_replay.stream import Stream

__all__ = [
    "BackendError",
    "BackendNotFoundError",
    "Batch",
    "ConfigError",
    "ReplayError",
    "Report",
    "RowError",
    "Session",
    "Stream",
    "StreamError",
    "TableError",
    "__version__",
    "open_session",
]
