"""The commonest accidents of an ingestion, with any framework.

Each returns the addresses of the pages that it spoils.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.interop.world import World

#: A page of which a paragraph is rewritten, and one that is taken down.
EDITED, DELETED = "module-2-digital-twin/ch1-gazebo-physics", "module-3-isaac/ch2-synthetic-data"
OLD = """The real-time factor compares simulated with elapsed time. At 0.4 the laptop needs 2.5 seconds for one
second of walking, which is fine for tests and misleading when a person watches. In nightly
regression tests nobody watches, so let them run as fast as the processor allows."""
NEW = """Watch the quotient of both clocks in the status bar. Below one half, close the camera windows first,
because each of them renders the whole scene again; only then buy a faster machine. Batch jobs without any window
reach a quotient of seven on an ordinary workstation."""

Write = Callable[..., None]


def twice(world: World, write: Write) -> list[str]:
    """The ingestion runs a second time."""
    write()
    return addresses(world)


def splitter(world: World, write: Write) -> list[str]:
    """It runs a second time with another chunk size."""
    write(size="large")
    return addresses(world)


def edited(world: World, write: Write) -> list[str]:
    """A page changes, and the ingestion runs again for this page."""
    world.edit(EDITED, OLD, NEW)
    write(pages=[world.address(EDITED)])
    return [world.address(EDITED)]


def edited_alone(world: World, write: Write) -> list[str]:
    """The same, but what is written replaces everything: all other pages are lost."""
    [page] = edited(world, write)
    return [address for address in addresses(world) if address != page]


def edited_only(world: World, write: Write) -> list[str]:
    """A page changes, and the ingestion does not run again."""
    world.edit(EDITED, OLD, NEW)
    return [world.address(EDITED)]


def deleted(world: World, write: Write) -> list[str]:
    """A page is taken down, and the ingestion runs again for the pages that remain."""
    world.take_down(DELETED)
    write()
    return [world.address(DELETED)]


def deleted_only(world: World, write: Write) -> list[str]:
    """A page is taken down, and the ingestion does not run again."""
    world.take_down(DELETED)
    return [world.address(DELETED)]


def addresses(world: World) -> list[str]:
    return sorted(world.address(page.path) for page in world.pages)
