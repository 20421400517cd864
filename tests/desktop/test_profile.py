"""A profile persists between desktops and belongs to one of them at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deskhand.config import load_settings
from deskhand.desktop import open_desktop_backend
from deskhand.desktop.profile import list_profiles, remove_profile
from deskhand.errors import DesktopError
from deskhand.terms import Private
from desktop_world import run

Opener = Callable[..., object]


async def test_what_apps_save_in_a_profile_is_there_the_next_time_and_in_no_other(opened: Opener) -> None:
    first = await opened(Private(profile="work"))  # type: ignore[misc]
    run(first, "open(os.path.expanduser('~/note'), 'w').write('kept'); answer(1)")
    first.close()
    again, other = await opened(Private(profile="work")), await opened(Private(profile="home"))  # type: ignore[misc]
    assert run(again, "answer(open(os.path.expanduser('~/note')).read())") == "kept"
    assert run(other, "answer(os.path.exists(os.path.expanduser('~/note')))") is False


async def test_a_profile_in_use_is_refused_until_its_desktop_closes(
    opened: Opener, deskhand_home: Path
) -> None:
    first = await opened(Private(profile="work"))  # type: ignore[misc]
    with pytest.raises(DesktopError, match="'work' is in use"):
        await opened(Private(profile="work"))  # type: ignore[misc]
    assert first.home == str(deskhand_home / "profiles" / "work" / "home")
    first.close()
    assert (await opened(Private(profile="work"))).alive()  # type: ignore[misc]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden", "x" * 65, "a b"])
async def test_a_name_that_could_be_a_path_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="profile"):
        await open_desktop_backend(Private(profile=name), settings=load_settings())


async def test_profiles_are_listed_and_removed_unless_they_are_in_use(opened: Opener) -> None:
    first = await opened(Private(profile="work"))  # type: ignore[misc]
    run(first, "open(os.path.expanduser('~/note'), 'w').write('x' * 5000); answer(1)")
    [row] = list_profiles(load_settings())
    assert (row.name, row.busy) == ("work", True)
    assert row.bytes >= 5000
    with pytest.raises(DesktopError, match="in use"):
        remove_profile("work", load_settings())
    first.close()
    assert not list_profiles(load_settings())[0].busy
    remove_profile("work", load_settings())
    assert list_profiles(load_settings()) == []
    with pytest.raises(ValueError, match="no profile is called 'work'"):
        remove_profile("work", load_settings())
