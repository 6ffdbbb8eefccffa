"""Many people label at once: answers per second, latencies, nothing lost or doubled.

Starts `mercer label` on a table of Gaussian groups on loopback, lets people answer
through the page's own requests, and compares what was acknowledged with what the store
holds afterwards.

    python benchmarks/studio_load.py --people 20 --answers 10000 --rows 20000
    python benchmarks/studio_load.py --people 1 --answers 60 --rows 100000 --think 0.5
    python benchmarks/studio_load.py --page --answers 60 --rows 100000 --think 0.7

With ``--page`` one person answers by keys in Debian's Chromium, and the times are those
from a key to the frame that shows the next row.
"""

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def label_by_keys(url: str, truth: np.ndarray, n: int, think: float) -> list[float]:
    """Answer on the page; return milliseconds from key to paint."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        page = browser.new_page()
        page.set_default_timeout(600_000)
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
        taken = page.evaluate("taken")
        browser.close()
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--think", type=float, default=0.0, help="seconds per answer")
    parser.add_argument("--page", action="store_true", help="measure key to paint")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, truth = make_table(Path(folder), args.rows)
        store = Path(folder) / "labels.db"
        classes = ",".join(map(str, range(CLASSES)))
        command = [sys.executable, "-m", "mercer", "label", str(path), "--no-open"]
        options = ["--id", "id", "--store", str(store), "--classes", classes]
        server = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            line = ""
            while (link := re.search(r"(http\S+)/#token=(\S+)", line)) is None:
                line = server.stdout.readline()
            url, token = link.groups()
            if args.page:
                taken = label_by_keys(link[0], truth, args.answers, args.think)
                print(f"{len(taken)} keys, milliseconds to paint:")
                for q in (50, 90, 99, 100):
                    print(f"  {q:3} % within {np.percentile(taken, q):7.1f}")
                return
            start = time.perf_counter()
            people = asyncio.run(label(url, token, truth, args))
            seconds = time.perf_counter() - start
        finally:
            server.terminate()
            server.wait()
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
