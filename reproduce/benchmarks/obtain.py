"""Put a dataset under the root: download it where its licence allows, or generate it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pooch
import requests

from reproduce.benchmarks.archive import write_generated
from reproduce.benchmarks.benchmark import Download, Source
from subadjacent.durable import whole_file
from subadjacent.errors import DataNotFound, InputError

RETRIES = 2
"""Further attempts at a file whose connection breaks."""

LOCAL_HOSTS = ("127.0.0.1", "localhost")

DownloadProgress = Callable[[int, int, str], None]
"""Called with the number of a file, the number of files, and the file's name."""


def obtain(
    source: Source, root: Path, *, base: str | None = None, watch: DownloadProgress | None = None
) -> None:
    """Download the files of a dataset that are missing, or write the generated one.

    Parameters
    ----------
    source, root
        The dataset, and the folder to put it under.
    base
        Address to download from instead: a copy with the same file names.
    watch
        Called before each file.

    Raises
    ------
    DataNotFound
        For a dataset that is given out on request, and for files that cannot be fetched.
    InputError
        When a file cannot be written, or an archive is damaged.
    """
    try:
        if source.generate is not None:
            with whole_file(root / source.layouts[0].files[0]) as draft:
                write_generated(draft, source)
            return
        if not source.downloads:
            raise DataNotFound(f"{source.title} cannot be downloaded. {source.instructions}")
        for number, download in enumerate(source.downloads, start=1):
            if watch is not None:
                watch(number, len(source.downloads), download.file)
            _obtain_file(download, root, f"{(base or download.base).rstrip('/')}/{download.file}")
    except OSError as error:
        if isinstance(error, DataNotFound):
            raise
        raise InputError(f"{root} cannot be written: {error.strerror or error}") from error


def _obtain_file(download: Download, root: Path, address: str) -> None:
    if download.unpack is None:
        fetch(address, root, download.target, download.sha256)
        return
    folder, archive = root / download.target, f"{download.target}/{download.file}.zip"
    # an archive that is still there was not unpacked to its end
    if not (root / archive).exists() and (folder / "train").is_dir() and (folder / "test").is_dir():
        return
    unpack(fetch(address, root, archive, download.sha256), folder, download.unpack)


def fetch(address: str, root: Path, target: str, sha256: str | None = None) -> Path:
    """Download a file to ``target`` under ``root``, unless it is there; return its path."""
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in LOCAL_HOSTS:
        raise InputError(f"address must begin with https://; got {address!r}")
    pooch.get_logger().setLevel("WARNING")
    files = pooch.create(
        root, "", registry={target: sha256}, urls={target: address}, retry_if_failed=RETRIES
    )
    try:
        return Path(files.fetch(target, downloader=pooch.HTTPDownloader(chunk_size=1 << 16)))
    except requests.RequestException as error:
        raise DataNotFound(
            f"{address} cannot be fetched ({error}); check the network and try again"
        ) from error
    except ValueError as error:
        # pooch's words for a wrong checksum
        raise InputError(f"{address} is not the published file: {error}") from error


def unpack(archive: Path, folder: Path, pattern: str) -> None:
    """Move the files of an archive whose last two names match into a folder; delete the archive."""
    try:
        with zipfile.ZipFile(archive) as packed:
            members = packed.infolist()
            for member in members:
                # only the last two names are used: the others may lead anywhere
                name = "/".join(PurePosixPath(member.filename).parts[-2:])
                if re.fullmatch(pattern, name):
                    member.filename = name
                    packed.extract(member, folder)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        archive.unlink(missing_ok=True)
        raise InputError(f"{archive} is damaged ({error}) and was deleted: try again") from error
    if not any(re.fullmatch(pattern, member.filename) for member in members):
        raise InputError(f"{archive} must hold files such as {pattern}; it holds none of them")
    archive.unlink()
