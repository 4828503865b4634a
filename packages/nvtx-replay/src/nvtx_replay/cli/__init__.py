# SPDX-License-Identifier: Apache-2.0
"""The command ``nvtx-replay``.

$ nvtx-replay convert trace.json.gz -o trace.pftrace
$ nvtx-replay info trace.pftrace
"""

from __future__ import annotations

import click

from nvtx_replay._version import __version__
from nvtx_replay.cli._convert import convert
from nvtx_replay.cli._info import info

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nvtx-replay")
def main() -> None:
    """Write data that already has timestamps into a timeline.

    Exit status: 0 done; 1 the input or output was refused; 2 wrong usage; 3 done, but something of
    the input could not be kept, as the report says.
    """


main.add_command(convert)
main.add_command(info)
