"""Nothing is fetched unasked: a network that fails loudly, and a cache of its own."""

import socket

import pytest


class NetworkUsedError(BaseException):
    """Not caught by code that treats a missing network as an everyday matter."""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_, **__):
        raise NetworkUsedError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
