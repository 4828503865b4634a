# SPDX-License-Identifier: Apache-2.0
"""Importers: files of other tools, read exactly and written to a session.

>>> from nvtx_replay import importers, open_session
>>> source = importers.scan("trace.json.gz")          # doctest: +SKIP
>>> with open_session("trace.pftrace") as session:    # doctest: +SKIP
...     source.write(session)
>>> print(source.report)                              # doctest: +SKIP

Formats are told by content. Packages add one by an entry point of the group
``nvtx_replay.importers`` that names an :class:`Importer`.
"""

from nvtx_replay.importers._input import InputFile
from nvtx_replay.importers.errors import InputRefusedError
from nvtx_replay.importers.options import ImportOptions
from nvtx_replay.importers.registry import Importer, Source, find_importer, importers, scan

__all__ = [
    "ImportOptions",
    "Importer",
    "InputFile",
    "InputRefusedError",
    "Source",
    "find_importer",
    "importers",
    "scan",
]
