"""The page in a cell."""

from pathlib import Path

import httpx

from mercer.studio.notebook import label
from studio_at_hand import FixedEngine, rows


def test_answers_reach_python_at_once(tmp_path: Path) -> None:
    heard: list[dict[str, str]] = []
    with label(
        rows(5),
        id="code",
        store=tmp_path / "labels.db",
        classes=("cat", "dog"),
        engine=FixedEngine(),
        changed=heard.append,
    ) as page:
        said = {
            "who": "me",
            "token": "t1",
            "data": page.studio.items.fingerprint,
            "row": 3,
            "label": 1,
        }
        headers = {"Authorization": f"Bearer {page.running.token}"}
        address = page.running.address
        response = httpx.post(f"{address}/api/answer", json=said, headers=headers)
        assert response.status_code == 200
        assert page.labels == {"r3": "dog"}
        assert heard[-1] == {"r3": "dog"}
        assert page.frame["label"].tolist()[3] == "dog"
        policy = httpx.get(address).headers["content-security-policy"]
        assert "frame-ancestors http://localhost:*" in policy
        assert f'src="{address}/#token={page.running.token}"' in page._repr_html_()
