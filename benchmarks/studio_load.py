"""Many people label at once: answers per second, latencies, nothing lost or doubled.

Starts `mercer label` on a table of Gaussian groups on loopback, lets people answer
through the page's own requests, and compares what was acknowledged with what the store
holds afterwards.

    python benchmarks/studio_load.py --people 20 --answers 10000 --rows 20000
    python benchmarks/studio_load.py --people 1 --answers 60 --rows 100000 --think 0.5
    python benchmarks/studio_load.py --page --answers 60 --rows 100000 --think 0.7
    python benchmarks/studio_load.py --photographs --rows 2000 --think 2

With ``--page`` one person answers by keys in Debian's Chromium, and the times are those
from a key to the frame that shows the next row. With ``--photographs`` the rows are
files of 640 x 480 pixels in a folder, embedded by a model of the size of
EfficientNet-B0 with random weights: the times are those from the start of the command
to the first question on the page, to the first embeddings, to the first model that
learns from some of them and to the one that has all; meanwhile somebody answers.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
from sqlalchemy import create_engine, text

CLASSES = 10


def make_table(folder: Path, n: int) -> tuple[Path, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.integers(CLASSES, size=n)
    centres = 3 * rng.standard_normal((CLASSES, 20))
    points = (centres[truth] + rng.standard_normal((n, 20))).round(3)
    frame = pd.DataFrame(points, columns=[f"x{k}" for k in range(20)])
    frame.insert(0, "id", [f"row {k}" for k in range(n)])
    path = folder / "points.parquet"
    frame.to_parquet(path)
    return path, truth


class Person:
    """Answers questions rightly, one after the other."""

    def __init__(self, name: str, client: httpx.AsyncClient, truth: np.ndarray) -> None:
        self.name, self.client, self.truth = name, client, truth
        self.latencies: list[float] = []
        self.acknowledged: list[str] = []
        self.client.headers["X-Mercer-Who"] = name

    async def work(self, n: int, data: str, think: float) -> None:
        """Answer n questions, and keep the time that each took."""
        said = {"who": self.name}
        question = (await self.post("next", said))["question"]
        for k in range(n):
            if question is None:
                break
            token, row = f"{self.name}-{k}", question["row"]
            label = int(self.truth[int(question["id"].split()[1])])
            said = {"who": self.name, "token": token, "data": data}
            start = time.perf_counter()
            answer = await self.post("answer", {**said, "row": row, "label": label})
            self.latencies.append(time.perf_counter() - start)
            self.acknowledged.append(token)
            question = answer["question"]
            if think:
                await asyncio.sleep(think)

    async def post(self, act: str, said: dict[str, object]) -> dict[str, object]:
        """Send a request, again if the studio asks to slow down."""
        while True:
            response = await self.client.post(f"/api/{act}", json=said)
            if response.status_code != 429:
                response.raise_for_status()
                return response.json()
            await asyncio.sleep(0.1)


async def label(
    url: str, token: str, truth: np.ndarray, args: argparse.Namespace
) -> list[Person]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as client:
        began = time.perf_counter()
        while True:
            state = (await client.get("/api/state")).json()
            if not state["stage"]:
                break
            await asyncio.sleep(0.5)
        print(f"kernel ready after {time.perf_counter() - began:.1f} s")
    clients = [
        httpx.AsyncClient(base_url=url, headers=headers, timeout=60)
        for _ in range(args.people)
    ]
    people = [Person(f"p{k}", c, truth) for k, c in enumerate(clients)]
    share = args.answers // args.people
    await asyncio.gather(*(p.work(share, state["data"], args.think) for p in people))
    for client in clients:
        await client.aclose()
    return people


# From a key to the second frame after another row was written on the page.
TIMING = """
globalThis.taken = [];
let began = 0;
document.addEventListener("keydown", () => (began = performance.now()), true);
new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(() => {
  if (began) taken.push(performance.now() - began);
  began = 0;
}))).observe(document.getElementById("reason"), { childList: true });
"""


@contextmanager
def new_page() -> Iterator[Any]:
    """Open a page in Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        page = browser.new_page()
        page.set_default_timeout(600_000)
        yield page
        browser.close()


def label_by_keys(url: str, truth: np.ndarray, n: int, think: float) -> list[float]:
    """Answer on the page; return milliseconds from key to paint."""
    with new_page() as page:
        page.goto(url)
        page.wait_for_selector("#item .one")
        page.evaluate(TIMING)
        page.wait_for_function(
            "() => !mercer.state.stage && mercer.map.places.length > 0"
        )
        for _ in range(n):
            row = int(page.inner_text("#reason").split(" · ")[0].split()[-1])
            page.keyboard.press(str((truth[row] + 1) % 10))
            page.wait_for_function("row => mercer.question.shown.row !== row", arg=row)
            page.wait_for_timeout(1000 * think)
        return page.evaluate("taken")


def make_photographs(folder: Path, n: int) -> np.ndarray:
    """Draw circles, boxes or triangles before noise; return which of them."""
    from PIL import Image, ImageDraw

    folder.mkdir()
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=n)
    for k, kind in enumerate(kinds):
        size = (640, 480) if rng.random() < 0.7 else (480, 640)
        noise = rng.integers(60, 160, (*[s // 8 for s in size[::-1]], 3))
        image = Image.fromarray(noise.astype(np.uint8)).resize(size)
        pen = ImageDraw.Draw(image)
        for _ in range(4):
            x, y, side = (int(v) for v in rng.integers(60, 300, 3))
            fill = tuple(int(v) for v in rng.integers(160, 255, 3))
            corners = [(x, y + side), (x + side, y + side), (x + side // 2, y)]
            if kind == 0:
                pen.ellipse([x, y, x + side, y + side], fill=fill)
            elif kind == 1:
                pen.rectangle([x, y, x + side, y + side], fill=fill)
            else:
                pen.polygon(corners, fill=fill)
        image.save(folder / f"{k:05}.jpg", quality=90)
    return kinds


def make_vision_model(folder: Path) -> None:
    """Write a model of the size of EfficientNet-B0, and random weights.

    They are large enough, and what layers make of noise is centred and scaled, as
    training would do: else all images have one vector.
    """
    import torch
    from transformers import EfficientNetConfig, EfficientNetModel

    config = EfficientNetConfig(
        image_size=224, width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280
    )
    model = EfficientNetModel(config)
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(layer.weight)
        model(torch.randn(8, 3, 224, 224, generator=torch.manual_seed(0)))
    model.save_pretrained(folder)
    settings = {
        "image_processor_type": "BitImageProcessor",
        "size": {"shortest_edge": 256},
        "crop_size": {"height": 224, "width": 224},
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))


def label_photographs(folder: Path, n: int, think: float) -> None:
    """Print what somebody waits for who labels a folder of photographs."""
    kinds = make_photographs(folder / "photos", n)
    make_vision_model(folder / "model")
    os.environ["MERCER_CACHE"] = str(folder / "cache")
    began = time.perf_counter()
    options = ["--embed", f"image={folder / 'model'}", "--classes", "round,box,three"]

    def now() -> str:
        return f"after {time.perf_counter() - began:.1f} s"

    with new_page() as page, studio(folder / "photos", *options) as (url, token):
        print(f"the link is there {now()}")
        page.goto(f"{url}/#token={token}")
        page.wait_for_selector("#item .one img")
        print(f"the first question is on the page {now()}", flush=True)
        headers = {"Authorization": f"Bearer {token}"}
        client = httpx.Client(base_url=url, headers=headers, timeout=60)
        awaited = {
            "embeddings are there": re.compile("embedded [1-9]"),
            "model learns from some": re.compile("learning from"),
            "model has all": re.compile("^$"),
        }
        taken: list[float] = []
        while awaited:
            state = client.get("/api/state").json()
            name = next(iter(awaited))
            if awaited[name].search(state["stage"]):
                del awaited[name]
                print(f"the first {name} {now()}: {len(taken)} answers", flush=True)
            row = int(page.inner_text("#reason").split(".")[0].split()[-1])
            start = time.perf_counter()
            page.keyboard.press(str(kinds[row] + 1))
            page.wait_for_function("row => mercer.question.shown.row !== row", arg=row)
            taken.append(time.perf_counter() - start)
            page.wait_for_timeout(1000 * think)
        half, most = np.percentile(taken, [50, 90])
        print(f"next question: half within {half:.2f} s, 90% within {most:.2f} s")
        state = client.get("/api/state").json()
        while state["model_labels"] < len(taken):
            time.sleep(0.2)
            state = client.get("/api/state").json()
        print(f"all {len(taken)} answers are learned {now()}")


@contextmanager
def studio(path: Path, *options: str) -> Iterator[tuple[str, str]]:
    """Start a studio; yield its address and its token."""
    command = [sys.executable, "-m", "mercer", "label", str(path), "--no-open"]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        line = ""
        while (link := re.search(r"(http\S+)/#token=(\S+)", line)) is None:
            line = server.stdout.readline()
        yield link[1], link[2]
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--think", type=float, default=0.0, help="seconds per answer")
    parser.add_argument("--page", action="store_true", help="measure key to paint")
    parser.add_argument("--photographs", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.photographs:
            label_photographs(Path(folder), args.rows, args.think)
            return
        path, truth = make_table(Path(folder), args.rows)
        store = Path(folder) / "labels.db"
        classes = ",".join(map(str, range(CLASSES)))
        options = ["--id", "id", "--store", str(store), "--classes", classes]
        with studio(path, *options) as (url, token):
            if args.page:
                link = f"{url}/#token={token}"
                taken = label_by_keys(link, truth, args.answers, args.think)
                print(f"{len(taken)} keys, milliseconds to paint:")
                for q in (50, 90, 99, 100):
                    print(f"  {q:3} % within {np.percentile(taken, q):7.1f}")
                return
            start = time.perf_counter()
            people = asyncio.run(label(url, token, truth, args))
            seconds = time.perf_counter() - start
        engine = create_engine(f"sqlite:///{store}")
        with engine.connect() as connection:
            query = "SELECT token, item FROM mercer_events WHERE kind = 'answer'"
            kept = connection.execute(text(query)).all()
    acknowledged = [t for p in people for t in p.acknowledged]
    tokens = [row.token for row in kept]
    milliseconds = 1000 * np.concatenate([p.latencies for p in people])
    print(f"{len(acknowledged):,} answers of {args.people} people in {seconds:.1f} s")
    for q in (50, 90, 99, 100):
        print(f"  {q:3} % within {np.percentile(milliseconds, q):7.1f} ms")
    print(f"lost: {len(set(acknowledged) - set(tokens))}")
    print(f"twice: {len(tokens) - len(set(tokens))}")
    print(f"items given to two people: {len(kept) - len({r.item for r in kept})}")


if __name__ == "__main__":
    main()
