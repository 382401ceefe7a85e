"""The eighteen categories of identifiers of the Safe Harbor rule (45 CFR 164.514(b)(2)), as far as names of columns tell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from manyveils.policy import Policy
from manyveils.profiling.words import topic_of

# For every category its letter, what it is, and words of names that suggest it, in the order in which names are asked.
CATEGORIES: Sequence[tuple[str, str, str]] = (
    ("F", "e-mail addresses", "email emails emailaddress mail courriel correo"),
    ("E", "fax numbers", "fax faxnumber telefax"),
    ("D", "telephone numbers", "phone telephone mobile cellphone tel telefon handy telefono movil"),
    ("O", "IP addresses", "ip ipaddress ipv4 ipv6"),
    ("N", "URLs", "url urls website homepage link"),
    ("G", "social security numbers", "ssn socialsecurity nino sozialversicherungsnummer insee dni curp bsn"),
    (
        "H",
        "medical record numbers",
        "mrn medicalrecord patientid patientnumber patno recordnumber caseid encounterid encounter",
    ),
    (
        "I",
        "health plan beneficiary numbers",
        "beneficiary memberid membernumber insuranceid insurancenumber policynumber versicherungsnummer",
    ),
    ("J", "account numbers", "account accountnumber iban creditcard cardnumber kontonummer"),
    (
        "K",
        "certificate and license numbers",
        "license licence licensenumber driverlicense certificate passport passportnumber ausweisnummer",
    ),
    ("L", "vehicle identifiers and license plates", "vin vehicleid licenseplate plate kennzeichen"),
    ("M", "device identifiers and serial numbers", "device deviceid imei serial serialno serialnumber mac"),
    ("P", "biometric identifiers", "biometric fingerprint fingerprints voiceprint iris retina dna genome"),
    ("Q", "full-face photographs and comparable images", "photo photograph image picture portrait foto"),
    (
        "B",
        "geographic subdivisions smaller than a state",
        "zip zipcode postcode postal postalcode postleitzahl plz address street strasse city town county district "
        "precinct municipality parish ward location latitude longitude lat lon lng gps ort wohnort stadt ville ciudad "
        "neighborhood neighbourhood geocode tract region",
    ),
    (
        "C",
        "dates, except years, and ages over 89",
        "date dates dob birth birthday birthdate born geburt geburtsdatum age ages alter admission admitted "
        "discharge death died deceased datum fecha timestamp",
    ),
    (
        "A",
        "names",
        "name names surname lastname firstname forename fullname middlename maidenname nachname vorname nom prenom "
        "apellido",
    ),
    (
        "R",
        "any other unique identifying number, characteristic or code",
        "id ids identifier uuid guid rowid key number nr no code username login userid customerid personid",
    ),
)
WHY = {
    "present": "published as it is",
    "coarsened": "published as labels",
    "removed": "not published",
    "not looked at": "no column has a name that suggests it",
}


def safe_harbor(policy: Policy, manifest: Mapping[str, Any], exposed: Iterable[str]) -> list[dict[str, Any]]:
    """What became of the columns of each category, in the order of the rule.

    `exposed` are those that stand in the table and may not. Columns are told by their names alone: a name that suggests nothing, a column that the policy does not list, or a
    name inside a text are not looked at. Whether a label is coarse enough for the rule is not judged.
    """
    letters = {letter: words for letter, _, words in CATEGORIES}
    columns = {name: topic_of(name, letters) for name in policy.attributes}
    published = dict(_published(manifest)) | dict.fromkeys(exposed, "present")
    return [
        {
            "category": letter,
            "what": what,
            **_told([name for name in columns if columns[name] == letter], published),
        }
        for letter, what, _ in sorted(CATEGORIES)
    ]


def _told(names: Sequence[str], published: Mapping[str, str]) -> dict[str, Any]:
    """What became of the columns: what is worst of them counts for the category."""
    told = [{"name": name, "status": published.get(name, "removed")} for name in names]
    found = {column["status"] for column in told}
    status = next((word for word in ("present", "coarsened", "removed") if word in found), "not looked at")
    return {"status": status, "columns": told, "why": f"{WHY[status]}."}


def _published(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every published attribute, and whether it is present or coarsened; present if any view has it as it is."""
    recoded = {(line["view"], line["attribute"]) for line in manifest["recodings"]}
    homes = {part: name for name, parts in manifest.get("derived", {}).items() for part in parts}
    listed = [(view["name"], name) for view in manifest["views"] for name in _attributes(view)]
    for view, name in sorted(listed, key=lambda entry: entry not in recoded):
        yield homes.get(name, name), "coarsened" if (view, name) in recoded else "present"


def _attributes(view: Mapping[str, Any]) -> Iterable[str]:
    return (name for column in view["columns"] for name in column["attributes"])
