"""A browser for all tests here: Chromium as the system has it, without a network."""

from __future__ import annotations

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed; `make test-all` installs it where it can")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield found
        found.close()


class Opened:
    """A page with what went wrong in it."""

    def __init__(self, page) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda said: self._said(said))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("requestfailed", lambda asked: self.wrong.append(f"asked for {asked.url}"))
        page.on("dialog", lambda shown: self.wrong.append(f"dialog {shown.message}"))

    def _said(self, said) -> None:
        if said.type in ("error", "warning"):
            self.wrong.append(said.text)


@pytest.fixture
def open_file(browser):
    """Opens a file from disk, offline: anything that a page asks for is a failed request."""
    contexts = []

    def opened(path, place="", width=1280, height=900, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        made = Opened(context.new_page())
        made.page.goto(f"{path.as_uri()}{place}")
        return made

    yield opened
    for context in contexts:
        context.close()
