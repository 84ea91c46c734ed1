"""What a recipient reads about who signed a release."""

from __future__ import annotations

from collections.abc import Mapping

from privet.languages import mark, say, translate
from privet.release.integrity.signature import NEEDS, Signature

UNSIGNED = mark("Unsigned: anybody could have written this.")


def describe_signature(found: Signature | None) -> str:
    """Who signed, and how sure that is.

    >>> describe_signature(None)
    'Unsigned: anybody could have written this.'
    >>> describe_signature(Signature("Registry", "SHA256:abc", known=True))
    "Signed by 'Registry', with the key you named: SHA256:abc."
    """
    if found is None:
        return translate(UNSIGNED)
    if not found.checked:
        return say(
            "A signature by {name} is there that was not checked, so "
            "that anybody could have written this. {needs}",
            name=f"{found.name!r}",
            needs=translate(NEEDS),
        )
    if found.known:
        return say(
            "Signed by {name}, with the key you named: {fingerprint}.",
            name=f"{found.name!r}",
            fingerprint=found.fingerprint,
        )
    return say(
        "Signed with the key {fingerprint} by somebody who calls "
        "themselves {name}. Whose key that is you must know from "
        "elsewhere: name the key you have from them with "
        "--signed-by.",
        fingerprint=found.fingerprint,
        name=f"{found.name!r}",
    )


def describe_key(told: Mapping[str, str]) -> str:
    """Whose a key is; and where, if it was just made."""
    lines = [
        say(
            "The key of {name}: {fingerprint}.",
            name=f"{told['name']!r}",
            fingerprint=told["fingerprint"],
        )
    ]
    if "private" in told:
        lines += [
            say(
                "Private: {private}. Whoever has it can sign in this name; "
                "it never travels.",
                private=told["private"],
            ),
            say(
                "Public: {public}. Give it to recipients, by another way "
                "than the release.",
                public=told["public"],
            ),
        ]
    return "\n".join(lines)
