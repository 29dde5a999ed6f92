"""A real browser, where there is one, without a network."""

import subprocess
from pathlib import Path
from shutil import which

import pytest

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr")
ALONE = ("--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=8000")


def browse(address: str, folder: Path, *options: str) -> str:
    """What the browser prints of a page, with its profile in the folder; no page may say anything on the console."""
    browser = which("chromium") or pytest.skip("no chromium here")
    command = [browser, *FLAGS, *ALONE, f"--user-data-dir={folder / 'browser'}", *options, address]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert "CONSOLE" not in done.stderr
    return done.stdout


def dom(address: str, folder: Path, *options: str) -> str:
    """The page once its scripts have run."""
    return browse(address, folder, "--dump-dom", *options)
