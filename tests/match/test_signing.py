from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.match.games import COUNTDOWN

import anygame
from anygame.errors import RecordError
from anygame.match import read_record, run, write_record
from anygame.match.signing import is_signed, read_key, signed, verify

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("cryptography", reason="the extra `signing` is not installed")


def test_our_records_are_signed_alike(tmp_path: Path) -> None:
    key = read_key(tmp_path / "key.pem")
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    record = run(anygame.loads(COUNTDOWN), ["legal", "random"], seed=1)
    found = signed(record.to_json(), key)
    assert found["matchHostPK"].startswith("0MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A")
    assert found["matchHostSignature"].startswith("A0")
    verify(found)
    write_record(found, tmp_path / "r.json")
    verify(read_record(tmp_path / "r.json").to_json())
    assert signed(found, read_key(tmp_path / "key.pem")) == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"playClock": 11}, "changed"),
        ({"weather": "fine"}, "changed"),
        ({"matchHostSignature": "A0AAAA"}, "changed"),
        ({"matchHostSignature": "B0AAAA"}, "should start with A0"),
        ({"matchHostSignature": "A0%%%%"}, "cannot be read"),
        ({"matchHostSignature": 7}, "should start with A0"),
        ({"matchHostPK": "0AAAA"}, "cannot be checked"),
        ({"matchHostPK": None}, "not signed"),
    ],
)
def test_bad_signatures_raise_errors(tmp_path: Path, change: dict[str, object], message: str) -> None:
    found = signed({"matchId": "m", "playClock": 10}, read_key(tmp_path / "key.pem"))
    with pytest.raises(RecordError, match=message):
        verify(found | change)


def test_verifying_an_unsigned_record_raises_an_error() -> None:
    assert not is_signed({"matchId": "m"})
    with pytest.raises(RecordError, match="not signed"):
        verify({"matchId": "m"})


def test_a_file_that_is_not_a_key_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")
    with pytest.raises(RecordError, match="as a key"):
        read_key(tmp_path / "key.pem")
    with pytest.raises(RecordError, match="as a key"):
        read_key(tmp_path / "none" / "key.pem")


def test_keys_that_are_not_rsa_raise_errors(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    other = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "key.pem").write_bytes(other)
    with pytest.raises(RecordError, match="expected an RSA key"):
        read_key(tmp_path / "key.pem")
