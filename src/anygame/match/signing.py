"""Signed records: RSA with SHA-1 over the canonical text, compatible with the reference manager.

The canonical text of a record is its JSON without the signature. Keys are sorted, there are no blanks, and
non-ASCII characters are not escaped. SHA-1 detects damage, but does not protect against a capable attacker.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import RecordError, needing
from anygame.files import write_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_KEY: Final = "matchHostPK"
_SIGNATURE: Final = "matchHostSignature"
_KEY_VERSION: Final = "0"
_SIGNATURE_VERSION: Final = "A0"
_BITS: Final = 2048


def canonical_text(record: Mapping[str, Any]) -> str:
    """Return the canonical text of a record.

    >>> canonical_text({"states": [], "matchId": "m", "matchHostSignature": "A0..."})
    '{"matchId":"m","states":[]}'
    """
    kept = {key: value for key, value in record.items() if key != _SIGNATURE}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_signed(record: Mapping[str, Any]) -> bool:
    """Return whether a record has a signature, valid or not."""
    return _SIGNATURE in record


def signed(record: Mapping[str, Any], key: RSAPrivateKey) -> dict[str, Any]:
    """Return a record with the public key and its signature."""
    lib = _cryptography()
    public = key.public_key().public_bytes(
        lib.serialization.Encoding.DER, lib.serialization.PublicFormat.SubjectPublicKeyInfo
    )
    content = {name: value for name, value in record.items() if name != _SIGNATURE}
    content[_KEY] = _KEY_VERSION + base64.b64encode(public).decode()
    signature = key.sign(canonical_text(content).encode(), *lib.manner)
    return content | {_SIGNATURE: _SIGNATURE_VERSION + base64.b64encode(signature).decode()}


def verify(record: Mapping[str, Any]) -> None:
    """Check the signature of a record. Raises RecordError if the signature is missing or wrong."""
    lib = _cryptography()
    public = _decoded(record, _KEY, _KEY_VERSION)
    signature = _decoded(record, _SIGNATURE, _SIGNATURE_VERSION)
    try:
        key = _rsa(lib.serialization.load_der_public_key(public), lib)
        key.verify(signature, canonical_text(record).encode(), *lib.manner)
    except lib.invalid as error:
        raise RecordError(
            "the signature does not match the record: the record or the signature was changed"
        ) from error
    except ValueError as error:
        raise RecordError(f"the signature cannot be checked: {error}") from error


def read_key(path: str | os.PathLike[str]) -> RSAPrivateKey:
    """Return the private key in a PEM file; if the file does not exist, create a key and write the file.

    Raises RecordError if the file contains no RSA key, or if the key has a password.
    """
    lib = _cryptography()
    file = Path(path)
    try:
        if file.exists():
            read: RSAPrivateKey = _rsa(lib.serialization.load_pem_private_key(file.read_bytes(), None), lib)
            return read
        made: RSAPrivateKey = lib.rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
        text = made.private_bytes(
            lib.serialization.Encoding.PEM,
            lib.serialization.PrivateFormat.PKCS8,
            lib.serialization.NoEncryption(),
        )
        file.touch(mode=0o600)
        write_whole(file, text.decode())
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"cannot use {path} as a key: {reason}") from error
    return made


def _decoded(record: Mapping[str, Any], key: str, prefix: str) -> bytes:
    text = record.get(key)
    if text is None:
        raise RecordError(f"the record is not signed: it has no {key}")
    if not isinstance(text, str) or not text.startswith(prefix):
        raise RecordError(f"{key} should start with {prefix}, found {str(text)[:20]!r}")
    try:
        return base64.b64decode(text.removeprefix(prefix), validate=True)
    except ValueError as error:
        raise RecordError(f"{key} cannot be read: {error}") from error


def _rsa(key: Any, lib: SimpleNamespace) -> Any:
    if isinstance(key, lib.rsa.RSAPrivateKey | lib.rsa.RSAPublicKey):
        return key
    raise ValueError("expected an RSA key")


def _cryptography() -> SimpleNamespace:
    """Return the parts of the cryptography library that this module uses. Raises MissingExtraError."""
    with needing("signing", "signed records need cryptography"):
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import padding, rsa
    manner = padding.PKCS1v15(), hashes.SHA1()
    return SimpleNamespace(invalid=InvalidSignature, manner=manner, rsa=rsa, serialization=serialization)
