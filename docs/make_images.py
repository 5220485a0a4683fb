"""Writes docs/images: pictures of the HTML reports on the demo's data. Needs Chromium.

`python docs/make_images.py`; look at each picture before it is committed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
PICTURES = (  # file, place in it, width, height, dark, name
    ("demo.html", "", 1100, 560, False, "report-run"),
    ("demo.html", "#c2", 1100, 1230, False, "report-case"),
    ("demo.html", "#c1", 1100, 1200, True, "report-case-dark"),
    ("demo.html", "#c2", 380, 760, False, "report-narrow"),
    ("demo.html", "#figures", 1100, 640, False, "report-figures"),
    ("compare.html", "", 1100, 900, False, "report-compare"),
    ("verify.html", "", 1100, 640, False, "report-verify"),
    ("audit.html", "", 1100, 900, False, "report-audit"),
)


def made_in(folder: Path) -> None:
    """The reports, by the commands that a reader would type."""
    trialrun = [sys.executable, "-m", "trialrun"]

    def run(*given: str) -> None:
        subprocess.run([*trialrun, *given], cwd=folder, check=False, capture_output=True)

    run("demo", "--copy", ".")
    run("demo", "-o", "demo.html")
    run("run", "refunds.yaml", "--repeat", "5")
    agent = folder / "refund_agent.py"
    agent.write_text(agent.read_text().replace("PERCENT = 100", "PERCENT = 50"))
    run("run", "refunds.yaml", "--repeat", "5")
    run("compare", "latest~1", "latest", "-o", "compare.html")
    run("verify", "non-compliant.jsonl", "-o", "verify.html")
    run("run", "rubrics.yaml")
    run("judge", "audit", "-o", "audit.html")


def main() -> None:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    IMAGES.mkdir(exist_ok=True)
    os.environ.pop("TRIALRUN_STORE", None)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        made_in(folder)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for file, place, width, height, dark, picture in PICTURES:
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
            )
            page.goto((folder / file).as_uri() + place)
            page.wait_for_timeout(300)
            page.screenshot(path=IMAGES / f"{picture}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
