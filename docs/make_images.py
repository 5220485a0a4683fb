"""Writes docs/images: pictures of the reports and of the viewer on the demo's data.

`python docs/make_images.py`; look at each picture before it is committed. Needs Chromium; files are
a third as large where Pillow is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
FILES = (  # file, place in it, width, height, dark, name
    ("demo.html", "", 1100, 560, False, "report-run"),
    ("demo.html", "#c2", 1100, 1230, False, "report-case"),
    ("demo.html", "#c1", 1100, 1200, True, "report-case-dark"),
    ("demo.html", "#c2", 380, 760, False, "report-narrow"),
    ("demo.html", "#figures", 1100, 660, False, "report-figures"),
    ("compare.html", "", 1100, 900, False, "report-compare"),
    ("verify.html", "#c5", 1100, 1060, False, "report-verify"),
    ("audit.html", "", 1100, 900, False, "report-audit"),
)
PAGES = (  # address, with names of runs in braces; height, name
    ("/", 640, "view-runs"),
    ("/runs/{latest}/cases/2", 720, "view-case"),
    ("/compare?before={before}&after={latest}", 1500, "view-compare"),
    ("/runs/{latest}/stability", 600, "view-stability"),
    ("/runs/{judged}/judge", 640, "view-judge"),
    ("/runs/{sessions}/cases/13", 900, "view-session"),
)
_AGENT = ('for text in ("shoes", "return")', 'for text in ("shoes",)')
_LABEL = "It should say where the order number is found."
_SHOWN_AT = re.compile(r"http://127\.0\.0\.1:\d+")  # http://127.0.0.1:41233
_ID = re.compile(r"\d{8}-\d{6}-\w{4}")  # 20261119-060813-y44d


def made_in(folder: Path) -> dict[str, str]:
    """The reports and a store, by the commands that a reader would type; ids of runs by name."""
    trialrun = [sys.executable, "-m", "trialrun"]

    def run(*given: str) -> str:
        made = subprocess.run([*trialrun, *given], cwd=folder, check=False, capture_output=True)
        return (made.stdout + made.stderr).decode()

    def commit(message: str) -> None:
        who = ("-c", "user.name=demo", "-c", "user.email=demo@example.org")
        subprocess.run(["git", *who, "commit", "-qam", message], cwd=folder, check=True)

    def latest() -> str:
        found = _ID.search(run("runs"))
        assert found is not None
        return found[0]

    run("demo", "--copy", ".")
    run("demo", "-o", "demo.html")
    run("verify", "non-compliant.jsonl", "-o", "verify.html")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    (folder / ".gitignore").write_text(".trialrun\n*.html\n*.json\n")
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    commit("The agent as it was")
    for _ in range(4):
        run("run", "support.yaml", "--repeat", "4", "--label", "nightly")
    ids = {"before": latest()}
    run("run", "rubrics.yaml", "--label", "judge")
    ids["judged"] = latest()
    run("judge", "audit", "-o", "audit.html")
    agent = folder / "support_agent.py"
    agent.write_text(agent.read_text().replace(*_AGENT))
    commit("Search once")
    run("verify", "compliant.jsonl", "non-compliant.jsonl", "--store")
    ids["sessions"] = latest()
    run("run", "support.yaml", "--repeat", "6", "--label", "nightly", "--label", "model=new")
    ids["latest"] = latest()
    run("compare", ids["before"], ids["latest"], "-o", "compare.html")
    return ids


@contextmanager
def viewer(folder: Path) -> Iterator[str]:
    """The address of a viewer of the store in the folder."""
    command = [sys.executable, "-m", "trialrun", "view", "--no-open", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        found = next(filter(None, map(_SHOWN_AT.search, process.stdout)))
        yield found[0]
        process.terminate()


def main() -> None:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    IMAGES.mkdir(exist_ok=True)
    os.environ.pop("TRIALRUN_STORE", None)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        ids = made_in(folder)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])

        def take(address: str, width: int, height: int, dark: bool, picture: str) -> None:
            scheme = "dark" if dark else "light"
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(address)
            if picture == "view-judge":  # as a person who does not agree
                page.locator("[name=reason]").first.fill(_LABEL)
                page.locator("button[value=disagree]").first.click()
            page.wait_for_timeout(300)
            page.screenshot(path=IMAGES / f"{picture}.png")
            page.close()
            shrink(IMAGES / f"{picture}.png")

        for file, place, width, height, dark, picture in FILES:
            take((folder / file).as_uri() + place, width, height, dark, picture)
        with viewer(folder) as address:
            for page, height, picture in PAGES:
                take(address + page.format(**ids), 1100, height, False, picture)
        browser.close()


def shrink(picture: Path) -> None:
    """256 colours are enough for these pages."""
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    few.save(picture, optimize=True)


if __name__ == "__main__":
    main()
