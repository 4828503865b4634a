# SPDX-License-Identifier: Apache-2.0
"""Exit statuses, and errors as one line on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from nvtx_replay.errors import ReplayError

REFUSED = 1
LOSSES = 3


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the package's errors into a message and exit status 1."""
    try:
        yield
    except ReplayError as error:
        click.echo(f"nvtx-replay: {error}", err=True)
        raise SystemExit(REFUSED) from error
