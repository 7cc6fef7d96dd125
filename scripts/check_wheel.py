"""Build the wheel, install it into an empty environment and render every template from there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Do it in a temporary folder; fail loudly."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT))
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "env", with_pip=True)
        python = str(folder / "env" / "bin" / "python")
        pip = (python, "-m", "pip", "--disable-pip-version-check", "--quiet")
        run(*pip, "install", "-c", str(ROOT / "constraints.txt"), str(wheel))
        run(python, "-I", str(ROOT / "scripts" / "render_templates.py"), cwd=folder)
        run(str(folder / "env" / "bin" / "yesno"), "models", "list", "--json", cwd=folder)
    print("the wheel installs, renders every template and starts")


def run(*command: str, cwd: Path = ROOT) -> None:
    """Run a command; its output is shown only when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
