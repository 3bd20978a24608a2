"""A cluster speaks TLS: who shows a certificate that it knows has jobs done, a stranger gets a sentence."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from raygrove.bench.simulated_devices import do_order, jobs_of
from raygrove.bench.store import cluster
from raygrove.bench.store.cluster import Cluster
from raygrove.bench.store.folder import Store
from raygrove.bench.store.workers import SweepError
from tests.bench.store import certificates
from tests.waiting import EVENT_S

SAID = "DASK_DISTRIBUTED__COMM__TLS__"


@contextlib.contextmanager
def shown(folder: Path) -> Iterator[None]:
    """This process shows the certificates of a folder."""
    dask = pytest.importorskip("dask")
    names = {f"distributed.comm.tls.{key}": str(folder / f"{file}.pem") for key, file in
             (("ca-file", "ca"), ("client.cert", "cert"), ("client.key", "key"))}  # fmt: skip
    with dask.config.set(names):
        yield


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where a scheduler with a worker speaks TLS by the certificates of the folder `mine`."""
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    mine = certificates.made(tmp_path / "mine")
    said = {f"{SAID}CA_FILE": str(mine / "ca.pem"), "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}
    for who in ("SCHEDULER", "WORKER", "CLIENT"):
        said |= {f"{SAID}{who}__CERT": str(mine / "cert.pem"), f"{SAID}{who}__KEY": str(mine / "key.pem")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--protocol", "tls", "--host", "127.0.0.1"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", f"tls://127.0.0.1:{port}", "--nthreads", "1"]
    with contextlib.ExitStack() as stack:
        for words in ([*program, "--port", port, "--no-dashboard"], [*worker, "--no-dashboard"]):
            process = stack.enter_context(subprocess.Popen(words, env={**os.environ, **said}, cwd=tmp_path,
                                                           stderr=subprocess.DEVNULL))  # fmt: skip
            stack.callback(process.terminate)
        yield f"127.0.0.1:{port}"


def test_jobs_are_done_for_who_shows_the_certificate_and_for_nobody_else(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, stranger = Store.made(tmp_path / "store"), certificates.made(tmp_path / "stranger")
    monkeypatch.setattr(cluster, "START_S", EVENT_S)  # the scheduler is only just being started
    with shown(tmp_path / "mine"):
        assert Cluster(store, f"tls://{address}", do_order).run(jobs_of(3, 0.01, 1.0)).done == 3
    monkeypatch.setattr(cluster, "START_S", 2.0)
    with shown(stranger), pytest.raises(SweepError, match="no scheduler answers"):
        Cluster(store, f"tls://{address}", do_order).run(jobs_of(4, 0.01, 1.0))
    with pytest.raises(SweepError, match="no scheduler answers"):
        Cluster(store, f"dask://{address}", do_order).run(jobs_of(4, 0.01, 1.0))
    assert len(list(store.hashes())) == 3
