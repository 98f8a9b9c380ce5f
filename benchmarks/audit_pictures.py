"""The pictures of docs/audit.md: an audit's page in Chromium, and one of its demonstrations.

rilco audit --task halfcheetah --noise-rate 0.4 --offline
python -m benchmarks.audit_pictures audit-halfcheetah 'halfcheetah#3 #24'
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from PIL import Image
from tests.judging.browser import emulate, start

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
HEIGHT = 1180
OPEN = """
document.getElementById('rows').scrollIntoView();
document.getElementById('search').value = arguments[0];
document.getElementById('search').dispatchEvent(new Event('input'));
document.querySelector('#rows .row').click();
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("audit", type=Path)
    parser.add_argument("demonstration", help="its name on the page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = start(Path(profile))
        try:
            for name, width in (("audit-page", 1360), ("audit-demonstration", 768)):
                emulate(driver, width=width, height=HEIGHT)
                driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
                driver.get((given.audit / "index.html").absolute().as_uri())
                if name == "audit-demonstration":
                    driver.execute_script(OPEN, given.demonstration)
                driver.execute_async_script("setTimeout(arguments[0], 500)")
                file = FIGURES / f"{name}.png"
                driver.save_screenshot(str(file))
                Image.open(file).convert("P", palette=Image.Palette.ADAPTIVE).save(file, optimize=True)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
