"""Recordings: folders, paths and bytes, with a model of sound and without one."""

import numpy as np
import pandas as pd
import pytest

import mercer
from embedding_models import sound_model
from mercer.app.embedding.cache import Cache
from mercer.app.embedding.columns import embed_columns
from mercer.app.embedding.models import find_model, load
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.reading import read_table
from mercer.app.tables.recordings import Recording, loudness, read_recording
from mercer.app.tables.table import TableError, as_table

soundfile = pytest.importorskip("soundfile")
pytestmark = pytest.mark.filterwarnings("ignore")  # of packages that change often

RATE = 8000


def tone(pitch, k=0, seconds=0.5, rate=RATE):
    rng = np.random.default_rng(k)
    time = np.arange(int(seconds * rate)) / rate
    wave = 0.3 * np.sin(2 * np.pi * (pitch + 10 * k) * time)
    return wave + 0.01 * rng.normal(size=len(time))


def kind(k):
    return ("low", "high")[k % 2]


def write_folder(folder, n=16):
    """Six recordings in sub-folders of their class, the others without a class."""
    for k in range(n):
        place = folder / (kind(k) if k < 6 else "unlabelled")
        place.mkdir(parents=True, exist_ok=True)
        wave = tone({"low": 300, "high": 2500}[kind(k)], k)
        soundfile.write(place / f"{k:02}.{('wav', 'flac')[k % 3 == 0]}", wave, RATE)
    return folder


def test_a_folder_of_recordings_is_learned_without_a_model(tmp_path):
    table = read_table(write_folder(tmp_path))
    assert table.vectors["sound"].shape == (16, 48)
    result = mercer.learn(table)
    truth = [kind(int(name.split("/")[1][:2])) for name in table.frame["file"]]
    assert result.predictions["prediction"].tolist() == truth
    assert "--embed 'sound=MODEL'" in " ".join(result.warnings)


def test_broken_recordings_are_named_and_left_out(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "low" / "99.wav").write_bytes(b"no sound")
    soundfile.write(tmp_path / "low" / "98.wav", np.zeros(0), RATE)
    table = read_table(tmp_path)
    assert len(table) == 16
    assert "2 files could not be read and were left out: low/98.wav" in table.notes[0]
    assert "low/99.wav" in table.notes[0]


def test_a_model_embeds_a_folder_and_new_recordings(tmp_path):
    table = read_table(write_folder(tmp_path / "sounds"))
    model = str(sound_model(tmp_path / "model"))
    encoder = TableEncoder()
    points = encoder.fit_transform(
        table.without({"file", "label"}), read_embed({"sound": model})
    )
    assert points.shape == (16, 16)
    assert encoder.notes_[0].done == "16 numbers by model, compared by angle"
    again = encoder.transform(table.take(np.arange(3)))
    np.testing.assert_allclose(again, points[:3], atol=1e-5)
    with Cache() as cache:
        assert [kept.n_items for kept in cache.contents()] == [16]


@pytest.mark.parametrize("form", ["paths", "bytes", "records"])
def test_columns_of_recordings_are_embedded(tmp_path, form):
    names = []
    for k in range(4):
        names.append(f"{k}.wav")
        soundfile.write(tmp_path / names[-1], tone(300, k), RATE)
    cells = names
    if form != "paths":
        cells = [(tmp_path / name).read_bytes() for name in names]
    if form == "records":
        cells = [{"bytes": cell, "path": None} for cell in cells]
    pd.DataFrame({"call": cells, "n": range(4)}).to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    heard = []

    def mean(recordings):
        heard.extend(recordings)
        return np.array([[r.wave.std(), r.rate] for r in recordings])

    made = embed_columns(table, read_embed({"call": mean}))
    assert made.table.columns == ["n", "call (embedded)"]
    assert made.embeddings[0].kind == "sound"
    np.testing.assert_allclose(heard[1].wave, tone(300, 1), atol=1e-4)


def test_a_missing_recording_has_the_mean(tmp_path):
    soundfile.write(tmp_path / "0.wav", tone(300), RATE)
    (tmp_path / "t.csv").write_text("call,n\n0.wav,1\n1.wav,2\n")
    table = read_table(tmp_path / "t.csv")
    made = embed_columns(table, read_embed({"call": lambda r: np.ones((len(r), 2))}))
    (message,) = made.messages
    assert "1 recording left out (row 2: 1.wav: No such file" in message


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    return load(find_model(str(sound_model(tmp_path_factory.mktemp("ast"))), "sound"))


def test_long_recordings_are_split_and_averaged(sounds):
    """The window is 10 s; a last piece of less than 1 s is left out."""
    first, second = tone(300, seconds=10), tone(2500, seconds=6)
    whole = Recording(np.concatenate([first, second]), RATE)
    array, pieces = sounds.embed(
        [whole, Recording(first, RATE), Recording(second, RATE)]
    )
    assert pieces.tolist() == [2, 1, 1]
    mean = (array[1] + array[2]) / np.linalg.norm(array[1] + array[2])
    np.testing.assert_allclose(array[0], mean, atol=1e-3)
    rest = Recording(np.concatenate([first, second[: int(0.9 * RATE)]]), RATE)
    assert sounds.embed([rest]).pieces.tolist() == [1]


def test_a_vector_does_not_depend_on_its_batch(sounds):
    short, long = Recording(tone(300), RATE), Recording(tone(900, seconds=4), RATE)
    alone = sounds.embed([short]).array[0]
    np.testing.assert_array_equal(sounds.embed([long, short]).array[1], alone)


def test_the_rate_of_a_recording_does_not_matter(sounds):
    slow, fast = (
        Recording(tone(300, seconds=2, rate=rate), rate) for rate in (16000, 44100)
    )
    noise = Recording(0.3 * np.random.default_rng(0).normal(size=32000), 16000)
    array = sounds.embed([slow, fast, noise]).array
    assert array[0] @ array[1] > array[0] @ array[2] + 0.01


@pytest.mark.parametrize(("pitch", "band"), [(60, 0), (440, 4), (3000, 15), (7900, 23)])
def test_loudness_finds_the_band_of_a_tone(pitch, band):
    """Bands are 118 mel wide: 440 Hz is 550 mel, 3,000 Hz are 1,876."""
    wave = np.sin(2 * np.pi * pitch * np.arange(16000) / 16000)
    found = loudness(Recording(wave, 16000))
    assert found.shape == (48,)
    assert found[:24].argmax() == band


def test_silence_and_a_single_sample_have_a_loudness():
    for wave in (np.zeros(8000), np.ones(1)):
        assert np.isfinite(loudness(Recording(wave, 8000))).all()


@pytest.mark.parametrize("wave", [[], [0.1, np.nan, 0.2]])
def test_recordings_without_sound_are_refused(tmp_path, wave):
    soundfile.write(tmp_path / "a.wav", np.array(wave, float), RATE, subtype="FLOAT")
    with pytest.raises(TableError, match=r"a\.wav cannot be read as a recording: it"):
        read_recording(tmp_path / "a.wav")


def test_of_a_very_long_recording_ten_minutes_are_read(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.full(601 * 100, 0.5), 100)
    assert len(read_recording(tmp_path / "a.wav").wave) == 600 * 100


def test_channels_are_averaged(tmp_path):
    both = np.column_stack([np.full(99, 0.5), np.full(99, -0.25)])
    soundfile.write(tmp_path / "a.wav", both, RATE, subtype="FLOAT")
    np.testing.assert_allclose(read_recording(tmp_path / "a.wav").wave, 0.125)


def test_a_model_of_images_is_no_model_of_sound(tmp_path):
    from embedding_models import image_model

    folder = image_model(tmp_path / "images")
    with pytest.raises(TableError, match=r"of sound|embeds sound"):
        load(find_model(str(folder), "sound"))


def test_a_model_of_sound_that_is_not_here_names_its_extra():
    with pytest.raises(TableError, match=r"mercer\[sound\]"):
        find_model("org/none", "sound")


def test_an_image_is_not_taken_for_sound():
    with pytest.raises(TableError, match="neither texts, images nor recordings"):
        embed_columns(as_table({"v": [1, 2]}), read_embed("v"))
