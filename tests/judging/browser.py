"""A real Chromium for the tests of the page; they are skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--force-prefers-reduced-motion",
)
ATTEMPTS = 3

needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no chromium and chromedriver here (Debian: chromium, chromium-driver)"
)


def start(profile: Path, *, width: int = 1360, height: int = 900, downloads: Path | None = None) -> Any:
    """A headless browser with a profile of its own, whose console is recorded."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    # The driver must not ask a server for a browser: both are given.
    os.environ.setdefault("SE_OFFLINE", "true")
    os.environ.setdefault("SE_AVOID_STATS", "true")
    for attempt in range(ATTEMPTS):
        try:
            return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        except Exception:  # a busy machine may not bring a browser up in the minute that the driver waits
            if attempt == ATTEMPTS - 1:
                raise
    return None


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, downloads: Path) -> Iterator[Any]:
    """One browser for all tests of a module: starting it takes longer than most of them."""
    driver = start(tmp_path_factory.mktemp("profile"), downloads=downloads)
    try:
        yield driver
    finally:
        driver.quit()


def emulate(
    driver: Any, *, width: int, height: int, dark: bool = False, mobile: bool = False, scale: int = 1
) -> None:
    """Another window, another device, or the dark."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
