# SPDX-License-Identifier: Apache-2.0
"""The importer of Chrome's Trace Event Format, module by module in the order of the data.

``_json_events`` reads events, ``_walk`` interprets them, ``_scan`` and ``_emit`` are its passes.
"""

from nvtx_replay.importers.chrome.importer import ChromeImporter, ChromeSource

__all__ = ["ChromeImporter", "ChromeSource"]
