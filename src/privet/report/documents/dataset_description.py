"""A released table as catalogues describe it: Croissant 1.0 and DCAT 3, in JSON-LD.

Both are made from the public manifest alone. What only its publisher knows (a licence,
an address, a date, a creator) stands there where it is given, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import PurePath
from typing import Any

from privet.errors import InputError, suggest_names
from privet.languages import which_language
from privet.report.documents.document import Document, Listing
from privet.report.documents.released_columns import (
    WrittenColumn,
    list_columns,
    say_role,
    say_shown,
)
from privet.values.visible_text import escape_json

STATED = ("license", "url", "creator", "published")
"""What only its publisher knows of a release, and catalogues ask for."""

MEDIA = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".json": "application/json",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".sav": "application/x-spss-sav",
    ".dta": "application/x-stata-dta",
}
"""The media types of files; the last two are registered nowhere."""

REGISTERED = (".parquet", ".csv", ".json", ".xlsx")
"""Those that IANA lists, which DCAT refers to."""

CROISSANT_MEDIA = {**MEDIA, ".parquet": "application/x-parquet"}
"""What Croissant's own tool reads: it knows Parquet by the name from before IANA's."""

TYPES = {
    "text": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "boolean": "sc:Boolean",
    "other": "sc:Text",
}
"""What Croissant calls what columns hold."""

CROISSANT: dict[str, Any] = {
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "equivalentProperty": "cr:equivalentProperty",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The terms of Croissant, as its specification lists them."""

DCAT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "prov": "http://www.w3.org/ns/prov#",
}
"""The vocabularies that a DCAT description uses."""

Manifest = Mapping[str, Any]
Stated = Mapping[str, str]


def require_stated(given: Stated) -> dict[str, str]:
    """What a publisher states, refused where it is none of `STATED`."""
    for key, value in given.items():
        if key not in STATED:
            raise InputError(
                f"What is stated must be one of {', '.join(STATED)}; got {key!r}. "
                f"{suggest_names(key, list(STATED))}".rstrip()
            )
        if not value.strip():
            raise InputError(f"{key} must be stated as text; got none.")
    if published := given.get("published"):
        _require_date(published)
    return dict(given)


def _require_date(published: str) -> None:
    try:
        date.fromisoformat(published)
    except ValueError:
        raise InputError(
            f"published must be a date such as 2026-03-31; got {published!r}."
        ) from None


def describe_content(note: Document) -> str:
    """What a catalogue says of it: the sentences of the public note."""
    wanted = [s for s in note.sections if s.key.startswith("note-")]
    return "\n".join(
        f"{section.title}: {' '.join(part.items)}"
        for section in wanted
        for part in section.parts
        if isinstance(part, Listing)
    )


def as_json_ld(content: Mapping[str, Any]) -> str:
    """A description as it is written."""
    return escape_json(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


# Croissant --------------------------------------------------------------------------


def describe_as_croissant(
    manifest: Manifest, note: Document, stated: Stated
) -> dict[str, Any]:
    """A Croissant 1.0 description: files, and the fields of each table."""
    known = {
        "license": stated.get("license"),
        "url": stated.get("url"),
        "creator": stated.get("creator")
        and {"@type": "sc:Organization", "name": stated["creator"]},
        "datePublished": stated.get("published"),
    }
    return {
        "@context": {"@language": which_language(), **CROISSANT},
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": note.title,
        "description": describe_content(note),
        **{key: value for key, value in known.items() if value},
        "distribution": [_describe_file(f) for f in manifest["files"]],
        "recordSet": [
            _describe_records(path, columns)
            for path, columns in list_columns(manifest).items()
        ],
    }


def _describe_file(file: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file["path"],
        "name": file["path"],
        "contentUrl": file["path"],
        "contentSize": f"{file['bytes']} B",
        "encodingFormat": CROISSANT_MEDIA[PurePath(file["path"]).suffix.lower()],
        "sha256": file["sha256"],
    }


def _describe_records(path: str, columns: list[WrittenColumn]) -> dict[str, Any]:
    name = PurePath(path).stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_describe_field(path, name, c) for c in columns],
    }


def _describe_field(path: str, records: str, column: WrittenColumn) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{column.name}",
        "name": column.name,
        "description": f"{say_role(column.about)}; {say_shown(column.about)}",
        "dataType": TYPES[column.kind],
        "source": {
            "fileObject": {"@id": path},
            "extract": {"column": column.name},
        },
    }


# DCAT -------------------------------------------------------------------------------


def describe_as_dcat(
    manifest: Manifest, note: Document, stated: Stated
) -> dict[str, Any]:
    """A DCAT 3 description: the data set and its distributions, each with a digest."""
    language = which_language()
    known: dict[str, Any] = {}
    if "url" in stated:
        known["dcat:landingPage"] = {"@id": stated["url"]}
    if "creator" in stated:
        agent = {"@type": "foaf:Agent", "foaf:name": stated["creator"]}
        known["dct:creator"] = agent
    if "published" in stated:
        known["dct:issued"] = {"@type": "xsd:date", "@value": stated["published"]}
    return {
        "@context": DCAT,
        "@id": f"urn:sha256:{manifest['digest']}",
        "@type": "dcat:Dataset",
        "dct:identifier": manifest["digest"],
        "dct:title": {"@language": language, "@value": note.title},
        "dct:description": {"@language": language, "@value": describe_content(note)},
        "dcat:keyword": list(manifest["columns"]),
        **known,
        "dcat:distribution": [
            _describe_distribution(f, stated) for f in manifest["files"]
        ],
    }


def _describe_distribution(file: Mapping[str, Any], stated: Stated) -> dict[str, Any]:
    suffix = PurePath(file["path"]).suffix.lower()
    media = f"https://www.iana.org/assignments/media-types/{MEDIA[suffix]}"
    known: dict[str, Any] = {}
    if suffix in REGISTERED:
        known["dcat:mediaType"] = {"@id": media}
    if "url" in stated:
        known["dcat:accessURL"] = {"@id": stated["url"]}
    if "license" in stated:
        known["dct:license"] = {"@id": stated["license"]}
    size = {"@type": "xsd:nonNegativeInteger", "@value": str(file["bytes"])}
    return {
        "@type": "dcat:Distribution",
        "dct:title": file["path"],
        **known,
        "dcat:byteSize": size,
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": {
                "@type": "xsd:hexBinary",
                "@value": file["sha256"],
            },
        },
    }
