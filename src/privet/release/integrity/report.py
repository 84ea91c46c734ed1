"""What a recipient reads about who signed a release."""

from __future__ import annotations

from collections.abc import Mapping

from privet.release.integrity.signature import NEEDS, Signature

UNSIGNED = "Unsigned: anybody could have written this."


def describe_signature(found: Signature | None) -> str:
    """Who signed, and how sure that is.

    >>> describe_signature(None)
    'Unsigned: anybody could have written this.'
    >>> describe_signature(Signature("Registry", "SHA256:abc", known=True))
    "Signed by 'Registry', with the key you named: SHA256:abc."
    """
    if found is None:
        return UNSIGNED
    if not found.checked:
        return (
            f"A signature by {found.name!r} is there that was not checked, so that "
            f"anybody could have written this. {NEEDS}"
        )
    if found.known:
        return f"Signed by {found.name!r}, with the key you named: {found.fingerprint}."
    return (
        f"Signed with the key {found.fingerprint} by somebody who calls themselves "
        f"{found.name!r}. Whose key that is you must know from elsewhere: name the key "
        "you have from them with --signed-by."
    )


def describe_key(told: Mapping[str, str]) -> str:
    """Whose a key is; and where, if it was just made."""
    lines = [f"The key of {told['name']!r}: {told['fingerprint']}."]
    if "private" in told:
        lines += [
            f"Private: {told['private']}. Whoever has it can sign in this name; it "
            "never travels.",
            f"Public: {told['public']}. Give it to recipients, by another way than the "
            "release.",
        ]
    return "\n".join(lines)
