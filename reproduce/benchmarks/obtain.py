"""Put a dataset under the root: download it where its licence allows, or generate it."""

from __future__ import annotations

import lzma
import os
import re
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from reproduce.benchmarks.archive import refuse_encrypted
from reproduce.benchmarks.benchmark import Download, Source
from reproduce.benchmarks.download import fetch
from reproduce.benchmarks.generated import write_generated
from subadjacent.errors import DataNotFound, InputError

DownloadProgress = Callable[[str, int, int, int, int | None], None]
"""Called with a file, its number, the number of files, bytes received, bytes expected."""


def obtain(
    source: Source, root: Path, *, base: str | None = None, watch: DownloadProgress | None = None
) -> None:
    """Download the files of a dataset that are not there yet, or write the generated one.

    Parameters
    ----------
    source, root
        The dataset, and the folder to put it under.
    base
        Address to download from instead: a copy with the same file names.
    watch
        Called as bytes are received.

    Raises
    ------
    DataNotFound
        For a dataset that is given out on request, and for files that are no longer at their
        address.
    InputError
        When a file cannot be written, or an archive is damaged.
    """
    if source.generate is not None:
        _write(source, root / source.layouts[0].files[0])
        return
    if not source.downloads:
        raise DataNotFound(f"{source.title} cannot be downloaded. {source.instructions}")
    for number, download in enumerate(source.downloads, start=1):
        target = root / download.target

        def piece(
            done: int, total: int | None, file: str = download.file, number: int = number
        ) -> None:
            if watch is not None:
                watch(file, number, len(source.downloads), done, total)

        if _is_there(download, target):
            continue
        address = _address(download, base)
        if download.unpack is None:
            fetch(address, target, sha256=download.sha256, most=download.most, watch=piece)
        else:
            archive = target / f"{download.file}.zip"
            fetch(address, archive, sha256=download.sha256, most=download.most, watch=piece)
            unpack(archive, target, download.unpack, download.most)
            archive.unlink()


def _is_there(download: Download, target: Path) -> bool:
    if download.unpack is None:
        return target.is_file()
    return (target / "train").is_dir() and (target / "test").is_dir()


def _address(download: Download, base: str | None) -> str:
    return f"{(base or download.base).rstrip('/')}/{download.file}"


def unpack(archive: Path, folder: Path, pattern: str, most: int) -> None:
    """Take files out of an archive: those whose last two names match, at most one folder deep.

    An archive that says that they have more than ``most`` bytes together is refused before any is
    unpacked; none ever gives more bytes than the archive says. They are unpacked beside the folder,
    and moved into it when all are complete.
    """
    wanted = re.compile(pattern)
    draft = folder / f".unpacking.{secrets.token_hex(4)}"
    try:
        with zipfile.ZipFile(archive) as packed:
            # names may lead anywhere; only the last two are used, and both are checked
            names = {
                member: "/".join(PurePosixPath(member.filename).parts[-2:])
                for member in packed.infolist()
            }
            members = [member for member, name in names.items() if wanted.fullmatch(name)]
            if (size := sum(member.file_size for member in members)) > most:
                raise InputError(
                    f"{archive} must unpack to at most {most:,} bytes; it has {size:,}: "
                    "delete it, and get it from another place"
                )
            refuse_encrypted(archive, members)
            for member in members:
                file = draft / names[member]
                file.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as source, file.open("wb") as target:
                    shutil.copyfileobj(source, target)
        if not draft.is_dir():
            raise InputError(f"{archive} must hold files such as {pattern}; it holds none of them")
        for unpacked in sorted(draft.iterdir()):
            shutil.rmtree(folder / unpacked.name, ignore_errors=True)
            unpacked.replace(folder / unpacked.name)
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
    ) as error:
        archive.unlink(missing_ok=True)
        raise InputError(
            f"{archive} is damaged ({error}) and was thrown away: try again"
        ) from error
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(source: Source, path: Path) -> None:
    """Write the generated dataset; the file appears when it is complete."""
    draft = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_generated(draft, source)
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
