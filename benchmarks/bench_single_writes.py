# SPDX-License-Identifier: Apache-2.0
"""What does a single write cost over what nvtx.writer itself costs?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from measuring import Contender, Stopwatch, compare, report
from nvtx.writer import Domain, Session, Stream
from outputs import to_nothing, to_perfetto

CALLS = 300_000
ROUNDS = 15
Prepare = Callable[[Domain, Stream], Callable[[], None]]


def pushpop_text(_domain: Domain, stream: Stream) -> Callable[[], None]:
    """Complete ranges whose name travels as text."""

    def write() -> None:
        for at in range(0, CALLS * 10, 10):
            stream.write_pushpop(at, at + 8, message="operation")

    return write


def pushpop_registered(domain: Domain, stream: Stream) -> Callable[[], None]:
    """Complete ranges whose name is registered."""
    message = domain.get_registered_string("operation")

    def write() -> None:
        for at in range(0, CALLS * 10, 10):
            stream.write_pushpop(at, at + 8, message=message)

    return write


def marks(domain: Domain, stream: Stream) -> Callable[[], None]:
    """Marks with a registered name."""
    message = domain.get_registered_string("operation")

    def write() -> None:
        for at in range(0, CALLS * 10, 10):
            stream.write_mark(at, message=message)

    return write


def counter_samples(domain: Domain, stream: Stream) -> Callable[[], None]:
    """Samples of one integer counter."""
    counter = domain.get_counter("memory", int)

    def write() -> None:
        for at in range(0, CALLS * 10, 10):
            stream.write_counter_sample(counter, at, at)

    return write


def session_writer(prepare: Prepare, watch: Stopwatch) -> Callable[[Session], None]:
    """Give a function that writes one kind of call to a session, and times the calls alone."""

    def write(session: Session) -> None:
        domain = session.get_domain("bench")
        with session.create_stream("s", domain=domain) as stream:
            calls = prepare(domain, stream)
            with watch:
                calls()

    return write


def main() -> None:
    for prepare in (pushpop_text, pushpop_registered, marks, counter_samples):
        watch = Stopwatch()
        write = session_writer(prepare, watch)
        to_ours, to_none = partial(to_perfetto, write), partial(to_nothing, write)
        contenders = [
            Contender("do-nothing backend, calls", CALLS, to_none, watch),
            Contender("nvtx-perfetto, calls", CALLS, to_ours, watch),
            Contender("nvtx-perfetto, with the session's end", CALLS, to_ours),
        ]
        report(f"Single writes: {(prepare.__doc__ or '').rstrip('.')}", compare(contenders, ROUNDS))


if __name__ == "__main__":
    main()
