"""The steps of deploy/Dockerfile without Docker: in an empty folder, with a Python of this machine.

    python benchmarks/dockerfile_steps.py

Reads the file, and does what each instruction says with every path below a folder: copies, runs
shell lines, changes the user. Then starts the entry point as a container would, asks for health
with the file's own check, and ends it. Needs the package index, and a user who may become another.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
PLACES = re.compile(r"(?<![\w./])/(?=(opt|source|data|run)\b)")
"""Where the file's own absolute paths begin: those that are put below a folder."""
PORT = "8080"
"""That the file lets others reach; another is taken here."""
TOKENS = "write a-token-of-the-trial-run\n"


class Step(NamedTuple):
    """An instruction, and what follows it."""

    name: str
    words: str

    @property
    def exact(self) -> list[str]:
        """The words of a JSON list."""
        found: list[str] = json.loads(self.words)
        return found


def steps(text: str) -> Iterator[Step]:
    """The instructions of a Dockerfile, in their order."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, words = line.strip().partition(" ")
            yield Step(name.upper(), " ".join(words.split()))


class Trial:
    """A folder in which a Dockerfile is carried out; it stands for the root of the image."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self.root = folder, folder / "root"
        self.env = {
            "PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "OMP_NUM_THREADS": "1",
        }
        self.env |= {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
        self.user: int | None = None
        self.entry: list[str] = []
        self.health: list[str] = []
        self.stage = ""
        (folder / "bin").mkdir()
        (folder / "bin" / "python").symlink_to(python)
        self.after_venv: Callable[[Path], None] = lambda _: None

    def here(self, words: str) -> str:
        """The same words, with paths below the folder."""
        return PLACES.sub(f"{self.root}/", words)

    def carry_out(self, all_steps: Sequence[Step]) -> None:
        """Every instruction; one that is not known is refused."""
        for step in all_steps:
            getattr(self, f"_{step.name.lower()}")(step)

    def _arg(self, _step: Step) -> None:
        """A version to be chosen; here it is that of the interpreter."""

    _expose = _volume = _arg

    def _from(self, step: Step) -> None:
        # the next image has nothing of the last but what is copied from it, to the same place
        if self.stage:
            self.root.rename(self.folder / self.stage)
        self.root.mkdir()
        self.stage = step.words.partition(" AS ")[2]
        self.work = self.root

    def _workdir(self, step: Step) -> None:
        self.work = Path(self.here(step.words))
        self.work.mkdir(parents=True, exist_ok=True)

    def _copy(self, step: Step) -> None:
        *sources, target = step.words.split()
        place = Path(self.here(target)) if target.startswith("/") else self.work / target
        if sources[0].startswith("--from="):
            stage, inside = sources[0].partition("=")[2], sources[1].lstrip("/")
            shutil.copytree(self.folder / stage / inside, place, symlinks=True)
            return
        for source in map(allowed, sources):
            if source.is_dir():
                unwanted = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, place, ignore=unwanted, dirs_exist_ok=True)
            else:
                shutil.copy(source, place / source.name if target.endswith("/") else place)

    def _run(self, step: Step) -> None:
        subprocess.run(
            ["/bin/sh", "-ec", self.here(step.words)], cwd=self.work, env=self.env, check=True
        )
        if made := re.search(r"-m venv (\S+)", self.here(step.words)):
            self.after_venv(Path(made[1]))

    def _env(self, step: Step) -> None:
        for pair in shlex.split(step.words):
            name, _, value = pair.partition("=")
            self.env[name] = self.here(value).replace("${PATH}", self.env["PATH"])

    def _user(self, step: Step) -> None:
        self.user = int(step.words.partition(":")[0])
        interpreter = (self.folder / "bin" / "python").resolve()
        try:
            subprocess.run([interpreter, "-c", ""], user=self.user, check=True)
        except (PermissionError, subprocess.CalledProcessError):
            # a Python in somebody's home: nobody else can start it
            self.user = None

    def _healthcheck(self, step: Step) -> None:
        self.health = json.loads(step.words.partition("CMD ")[2])

    def _entrypoint(self, step: Step) -> None:
        self.entry = [self.here(word) for word in step.exact]

    def start(self) -> tuple[subprocess.Popen[str], str]:
        """The container's process, and the port that it listens on once it does."""
        words = [word.replace(f":{PORT}", ":0") for word in self.entry]
        process = subprocess.Popen(
            words, cwd=self.work, env=self.env, user=self.user, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"http://\S+:(\d+)", said)):
            line = process.stderr.readline()
            if not line:
                process.stderr.close()
                raise RuntimeError(f"it ended with {process.wait()} before it listened: {said}")
            said += line
        return process, found[1]

    def is_healthy(self, port: str) -> bool:
        """What the file's own check says."""
        words = [word.replace(PORT, port) for word in self.health]
        asked = subprocess.run(
            words, env=self.env, user=self.user, capture_output=True, check=False
        )
        return asked.returncode == 0

    def becomes_healthy(self, process: subprocess.Popen[str], port: str) -> bool:
        """Ask until it is, as Docker does; a busy machine may be too slow for the first check."""
        while process.poll() is None:
            if self.is_healthy(port):
                return True
        return False

    def put_tokens(self) -> None:
        """The file that whoever runs the container gives to it."""
        file = Path(self.here("/run/secrets/subadjacent"))
        file.parent.mkdir(parents=True)
        file.write_text(TOKENS)


def allowed(source: str) -> Path:
    """A file of the repository that the image may be built from."""
    known = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text().splitlines()
    if f"!{source}" not in known:
        raise ValueError(f"{source} must be allowed by Dockerfile.dockerignore; it is not")
    return ROOT / source


def end(process: subprocess.Popen[str]) -> int:
    """Stop it as Docker does; its exit code."""
    process.send_signal(signal.SIGTERM)
    process.communicate()
    return process.returncode


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="subadjacent-image-") as folder:
        # another user starts the service, and must come to it
        Path(folder).chmod(0o755)
        trial = Trial(Path(folder), Path(sys._base_executable))  # type: ignore[attr-defined]
        trial.carry_out(list(steps(DOCKERFILE.read_text())))
        trial.put_tokens()
        process, port = trial.start()
        healthy = trial.becomes_healthy(process, port)
        code = end(process)
    who = "who ran this" if trial.user is None else trial.user
    print(f"started by the user {who}; healthy: {healthy}; ended with {code}")
    sys.exit(0 if healthy else 1)


if __name__ == "__main__":
    main()
