"""Files that are small on disk and would fill memory: refused, in words.

Each is read in one other process, which reports its peak of memory for each file.
"""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

LIMIT = 24 * 2**20

_READ = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import pandas, pyarrow.parquet, pyarrow.json, pyarrow.csv, pyarrow.feather, PIL.Image
from mercer.app.tables.reading import read_table
from mercer.app.tables.table import TableError
from mercer.persist import load

def figure(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(x.split()[1]) for x in lines if x.startswith(name))

first, limit, *paths = sys.argv[1:]
read_table(first)  # what is imported and compiled at first use
told = {}
for path in paths:
    open("/proc/self/clear_refs", "w").write("5")  # the peak starts again
    before = figure("VmRSS")
    try:
        read = load if path.endswith(".skops") else read_table
        read(path, memory=int(limit))
        said = ""
    except (TableError, ValueError) as error:
        said = str(error)
    told[path] = said, figure("VmHWM") - before
print(json.dumps(told))
"""


def _parquet(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    n = 400_000
    text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(n, dtype=np.int32)), pa.array(["a" * 5000])
    )
    parquet.write_table(pa.table({"a": text}), folder / "dictionary.parquet")
    zeros = pa.array(np.zeros(n * 16, dtype=np.float32))
    lists = pa.ListArray.from_arrays(
        np.arange(0, 16 * n + 1, 16, dtype=np.int32), zeros
    )
    parquet.write_table(pa.table({"a": lists}), folder / "lists.parquet")
    plain = pa.table({"a": pa.array(["b" * 20_000_000])})
    options: dict[str, Any] = {"use_dictionary": False, "compression": "zstd"}
    parquet.write_table(plain, folder / "page.parquet", **options)
    prefix = pa.table({"a": pa.array(["c" * 100_000 + f"{k:06}" for k in range(600)])})
    options["column_encoding"] = {"a": "DELTA_BYTE_ARRAY"}
    parquet.write_table(prefix, folder / "prefix.parquet", **options)
    moments = pa.array(np.zeros(2_000_000, dtype=np.int32)).cast(pa.date32())
    parquet.write_table(pa.table({"a": moments}), folder / "dates.parquet")


def _arrow(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import feather

    zeros = pa.table({"a": np.zeros(20_000_000)})
    feather.write_feather(zeros, folder / "zeros.feather", compression="zstd")
    text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(1_000_000, dtype=np.int8)), pa.array(["a" * 5000])
    )
    feather.write_feather(
        pa.table({"a": text}), folder / "dictionary.feather", compression="zstd"
    )
    views = pa.array(["a" * 100_000]).cast(pa.string_view())
    same = pa.concat_arrays([views] * 2000)
    feather.write_feather(pa.table({"a": same}), folder / "views.feather")
    none = pa.table({f"c{k}": pa.nulls(4_000_000) for k in range(40)})
    feather.write_feather(none, folder / "nulls.feather")


def _workbooks(folder: Path) -> None:
    def write(name: str, cells: str) -> None:
        pd.DataFrame({"a": ["x"]}).to_excel(folder / "plain.xlsx", index=False)
        with (
            zipfile.ZipFile(folder / "plain.xlsx") as old,
            zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for entry in old.namelist():
                data = old.read(entry).decode()
                if entry.endswith("sheet1.xml"):
                    start, _, rest = data.partition("<sheetData>")
                    end = rest.partition("</sheetData>")[2]
                    data = f"{start}<sheetData>{cells}</sheetData>{end}"
                new.writestr(entry, data)

    far = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
    write("wide.xlsx", far.format(1, "A") + far.format(200_000, "XFD"))
    same = pd.DataFrame({"a": ["a" * 30_000] * 2000})  # the file has the text once
    same.to_excel(folder / "strings.xlsx", index=False)


def _texts(folder: Path) -> None:
    import bz2
    import gzip
    import lzma

    rows = b"a,b\n" + b"1,2\n" * 4_000_000
    (folder / "rows.csv.gz").write_bytes(gzip.compress(rows, 1))
    (folder / "rows.csv.bz2").write_bytes(bz2.compress(rows))
    (folder / "rows.csv.xz").write_bytes(lzma.compress(rows, preset=0))
    narrow = b",".join([b"1"] * 500) + b"\n"
    (folder / "cells.csv").write_bytes(narrow * 4_000)
    with zipfile.ZipFile(folder / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("z.csv", rows)
    lines = "".join(f'{{"k{k}":1}}\n' for k in range(20_000))
    (folder / "names.jsonl").write_text(lines)
    (folder / "names.json").write_text(f"[{','.join(lines.split())}]")
    (folder / "empty.json").write_text(f"[{','.join(['{}'] * 1_500_000)}]")
    np.savez_compressed(folder / "zeros.npz", X=np.zeros((2000, 2000)))
    (folder / "quote.csv").write_bytes(b'a,b\n"' + b"x" * 5_000_000)
    (folder / "texts").mkdir()
    with (folder / "texts" / "a.txt").open("wb") as file:
        file.truncate(200_000_000)


def _arrow_stream(folder: Path) -> None:
    import pyarrow as pa

    rows = b"a,b\n" + b"1,2\n" * 4_000_000
    with pa.CompressedOutputStream(str(folder / "rows.csv.zst"), "zstd") as out:
        out.write(rows)


def _images(folder: Path) -> None:
    from PIL import Image

    (folder / "large").mkdir()
    Image.new("1", (8000, 8000)).save(folder / "large" / "a.png")
    (folder / "many").mkdir()
    Image.new("L", (64, 64)).save(folder / "many" / "0.png")
    data = (folder / "many" / "0.png").read_bytes()
    for k in range(1, 2000):
        (folder / "many" / f"{k}.png").write_bytes(data)


def _model(folder: Path) -> None:
    from mercer.persist import save

    save([np.zeros(4_000_000)], folder / "zeros.skops")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_file_takes_more_than_twice_the_memory_that_may_be_used(
    tmp_path: Path,
) -> None:
    for write in (_parquet, _arrow, _workbooks, _texts, _arrow_stream, _images, _model):
        write(tmp_path)
    pd.DataFrame({"a": ["x"]}).to_parquet(tmp_path / "first.parquet")
    calm = {"first.parquet", "plain.xlsx"}
    bombs = sorted(p for p in tmp_path.iterdir() if p.name not in calm)
    command = [sys.executable, "-c", _READ, tmp_path / "first.parquet", str(LIMIT)]
    done = subprocess.run([*command, *bombs], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    told = json.loads(done.stdout)
    assert len(told) == len(bombs) >= 24
    unread = {Path(p).name: words for p, (words, _) in told.items() if not words}
    assert not unread
    other = {Path(p).name for p, (words, _) in told.items() if "memory" not in words}
    assert other == {"quote.csv"}  # a quotation mark that is not closed
    peaks = {Path(p).name: peak / LIMIT for p, (_, peak) in told.items()}
    assert {name: peak for name, peak in peaks.items() if peak > 2} == {}


def test_a_page_of_parquet_cannot_hide_its_size(tmp_path: Path) -> None:
    """The header of a page says what is reserved, whatever the footer says."""
    import pyarrow as pa
    from pyarrow import parquet

    from mercer.app.tables.page_headers import parquet_pages

    table = pa.table({"a": np.arange(1000) % 7, "b": ["x", "yy"] * 500})
    parquet.write_table(table, tmp_path / "t.parquet", data_page_size=200)
    data = memoryview((tmp_path / "t.parquet").read_bytes())
    rows = parquet.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0)
    for k in range(2):
        chunk = rows.column(k)
        pages = list(
            parquet_pages(
                data, chunk.dictionary_page_offset, chunk.total_compressed_size
            )
        )
        assert [p.is_dictionary for p in pages] == [True] + [False] * (len(pages) - 1)
        assert sum(p.n_values for p in pages[1:]) == 1000
        headers = chunk.total_uncompressed_size - sum(p.size for p in pages)
        assert 0 < headers < 120 * len(pages)  # the footer counts headers as well
    with pytest.raises(ValueError, match="page"):
        list(parquet_pages(data, 9, 200))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_what_is_written_out_in_pieces_is_read_whole(tmp_path: Path, kind: str) -> None:

    from mercer.app.tables.reading import read_table

    rng = np.random.default_rng(0)
    n = 5000
    frame = pd.DataFrame(
        {
            "text": [f"{'same start ' * 9}{k}" for k in range(n)],
            "few": rng.choice(["a", "b", None], n),
            "day": pd.date_range("2024-01-01", periods=n).date,
            "is": rng.random(n) < 0.5,
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.random(n)),
            "v": list(rng.random((n, 3))),
        }
    )
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        frame.to_parquet(
            path,
            row_group_size=999,
            use_dictionary=["few"],
            column_encoding={"text": "DELTA_BYTE_ARRAY"},
        )
    else:
        frame.to_feather(path, compression="zstd", chunksize=999)
    read = read_table(path, memory=1e8)
    for name in frame.columns[:-1]:
        pd.testing.assert_series_equal(read.frame[name], frame[name], check_dtype=False)
    np.testing.assert_array_equal(read.vectors["v"], np.stack(frame["v"]))


def test_links_out_of_a_folder_are_left_out(tmp_path: Path) -> None:
    from mercer.app.tables.reading import read_table

    (tmp_path / "secret.txt").write_text("my-private-key")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("of the folder")
    (folder / "b.txt").symlink_to(tmp_path / "secret.txt")
    table = read_table(folder)
    assert table.frame["text"].tolist() == ["of the folder"]
    assert table.notes == (f"1 link to files outside {folder} left out.",)
