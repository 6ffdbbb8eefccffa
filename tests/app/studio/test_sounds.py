"""Recordings that a table names are played on the page; nothing else is read."""

import io
import wave
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.app.studio.from_file import open_studio
from mercer.app.studio.service import Studio
from studio_at_hand import serving


def beep(seconds: float = 0.5) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        t = np.arange(int(8000 * seconds)) / 8000
        sound.writeframes((9000 * np.sin(2800 * t)).astype("<i2").tobytes())
    return out.getvalue()


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    folder = tmp_path / "birds"
    for name in ("june", "june.wav"):
        (folder / name).mkdir(parents=True)
    (tmp_path / "secret.wav").write_bytes(b"secret")
    (folder / "notes.txt").write_text("secret")
    (folder / "link.wav").symlink_to(tmp_path / "secret.wav")
    names = ["june/a.wav", "b.wav", "gone.wav", "../secret.wav", "link.wav"]
    names += [str(tmp_path / "secret.wav"), "june.wav", "c.wav"]
    for name in ("june/a.wav", "b.wav", "c.wav"):
        (folder / name).write_bytes(beep())
    frame = pd.DataFrame({"recording": names, "metres": np.arange(8.0)})
    frame["text"] = "notes.txt"
    frame.to_csv(folder / "birds.csv", index=False)
    return open_studio(
        folder / "birds.csv", store=f"sqlite:///{tmp_path}/l.db", classes=("a", "b")
    )


def test_only_sound_files_in_the_folder_of_the_table_are_sent(studio: Studio) -> None:
    assert studio.items.sounds == ["recording"]
    with serving(studio) as client:

        def get(row: int, column: str = "recording"):
            asked = {"data": studio.items.fingerprint, "column": column}
            return client.get(f"/api/sound/{row}", params=asked)

        for row in (0, 1, 7):
            assert get(row).status_code == 200
            assert get(row).headers["content-type"] == "audio/wav"
            assert get(row).content == beep()
        for row in (2, 3, 4, 5, 6):
            assert get(row).status_code == 404
            assert b"secret" not in get(row).content
        assert get(0, "text").status_code == 404
        assert get(0, "other").status_code == 404


def test_recordings_in_cells_are_sent(tmp_path: Path) -> None:
    """Those of Parquet, as Hugging Face keeps them, had no player."""
    cells = [{"bytes": beep(), "path": None}, {"bytes": beep(1.0), "path": None}, None]
    frame = pd.DataFrame({"call": cells, "metres": np.arange(3.0)})
    frame.to_parquet(tmp_path / "calls.parquet")
    store = f"sqlite:///{tmp_path}/l.db"
    studio = open_studio(tmp_path / "calls.parquet", store=store, classes=("a", "b"))
    assert [studio.items.show(row)["sounds"] for row in range(3)] == [
        ["call"], ["call"], [],
    ]  # fmt: skip
    assert not studio.items.has_images
    asked = {"data": studio.items.fingerprint, "column": "call"}
    with serving(studio) as client:
        sent = [client.get(f"/api/sound/{row}", params=asked) for row in range(3)]
    assert [one.status_code for one in sent] == [200, 200, 404]
    assert sent[1].content == beep(1.0)
    assert sent[1].headers["content-type"] == "audio/wav"


def test_a_recording_is_played_by_a_key(studio, start, visit) -> None:
    page = visit(start(studio))
    page.evaluate("() => globalThis.mercer.open(0)")
    page.wait_for_selector("#item audio")
    page.wait_for_function("() => document.querySelector('#item audio').duration > 0.4")
    page.keyboard.press("a")
    page.wait_for_function(
        "() => document.querySelector('#item audio').currentTime > 0"
    )
    page.evaluate("() => globalThis.mercer.open(2)")
    page.wait_for_function(
        "() => document.getElementById('item').textContent.includes('no such sound')"
    )
