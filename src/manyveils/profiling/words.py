"""What the name of a column says: words in English and a few other languages, by what they speak of."""

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

Words = Mapping[str, tuple[str, ...]]

# A word of this length or longer also stands for those that begin with it: diagnos-is, diagnos-ed.
STEM = 5


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# Enough by themselves.
IDENTIFIERS: Words = {
    "a person's name": _listed(
        """
        surname lastname firstname forename fullname middlename maidenname initials nachname vorname
        prenom apellido cognome achternaam voornaam
        """
    ),
    "an e-mail address": _listed("email emails emailaddress mail courriel correo"),
    "a phone number": _listed("phone telephone mobile cellphone fax tel telefon handy"),
    "an official number": _listed(
        """
        ssn passport nino nhs mrn iban bsn dni curp cpf aadhaar socialsecurity taxid steuernummer
        personnummer licenseplate driverlicense license licence vin sozialversicherungsnummer
        versicherungsnummer
        """
    ),
    "an account": _listed("username userid login accountnumber creditcard cardnumber"),
    "an address": _listed("address street adresse strasse hausnummer calle indirizzo adres"),
    "a device or a web page": _listed(
        "ip ipaddress url imei mac cookie deviceid token barcode twitter facebook instagram linkedin"
    ),
    "a key of records": _listed("uuid guid rowid recordid patientid personid"),
}

# Enough where most rows differ, or where the whole name is one of them.
WEAK_IDENTIFIERS: Words = {
    "a name": _listed("name names nom nombre nome naam"),
    "a number of records": _listed(
        """
        id ids identifier number nr no num key record account index nummer numero serial reference
        """
    ),
}

SENSITIVE: Words = {
    "health": _listed(
        """
        diagnos diag drg disease ill illness condition symptom treatment therapy drug drugs
        medication medicine hiv aids cancer tumor tumour histology topography mental mortality disab
        pregnan blood health sick sickness absence icd icd9 icd10 procedure surgery smoker smoking alcohol bmi cholesterol
        glucose allerg survival infect krank behinder maladie enfermedad malattia ziekte drem dphy
        deye dear dvet ddrs dout dis suicid abuse viral hba1c a1c
        """
    ),
    "money": _listed(
        """
        income salary wage wages earning revenue capital dividend debt loan credit wealth asset tax
        taxes benefit poverty balance pay einkommen gehalt lohn revenu salaire ingreso sueldo
        reddito stipendio inkomen pincp povpip wagp hincp
        """
    ),
    "an insurance or a claim": _listed("insur claim claims versicherung assurance seguro"),
    "an occupation": _listed("occupation industry unemploy beruf indp occp naicsp"),
    "a belief or a membership": _listed(
        """
        religi faith belief politic party union vote voted orientation sexual sexuality gewerkschaft
        partei
        """
    ),
    "the law": _listed("crime criminal offence offense arrest convict prison sentence"),
    "a judgement": _listed("score grade grades rating performance gpa iq evaluation"),
}

QUASI: Words = {
    "age": _listed("age ages agep alter edad eta leeftijd"),
    "birth": _listed("birth birthday born dob yob geburt naissance nacimiento nascita"),
    "sex": _listed("sex gender geschlecht sexe sexo sesso geslacht"),
    "origin": _listed(
        """
        race ethnic hispanic hisp rac1p national citizen ancestry language native origin immigra
        staatsang
        """
    ),
    "place": _listed(
        """
        zip zipcode postcode postal postalcode postleitzahl plz lat lon lng gps city town county state country region district
        province municipal residence location latitude longitude puma hospital clinic ort stadt land
        ville pays ciudad pais citta gemeente density area
        """
    ),
    "family": _listed(
        """
        marital married marriage relationship household family child children spouse msp mar noc npf
        familienstand
        """
    ),
    "schooling": _listed("education edu school schooling degree student enroll bildung"),
    "work": _listed("job workclass worker employ profession work hours department"),
    "housing": _listed("housing house home rent tenure"),
    "military service": _listed("veteran veterans military"),
    "a date": _listed("date datum fecha year month admission admitted discharge visit"),
    "the body": _listed("height weight hair eyecolor"),
}

SURVEY_WEIGHTS = _listed("fnlwgt wgt pwgtp wgtp sampleweight surveyweight instanceweight")
NUMBERS = _listed(
    """
    age agep num number count n hours weeks days years months size persons members children score
    grade level amount total noc npf
    """
)
POSTCODES = _listed("zip zipcode postcode postal postalcode postleitzahl plz zcta")
# Whose name or number it is: such a column names people even if most of them have several rows.
PEOPLE = _listed(
    """
    patient patienten record person people personal customer client kunde kunden user member employee staff
    mitarbeiter student pupil subject participant respondent citizen national voter resident tenant
    account policy claim case encounter insurance doctor physician nurse mother father parent spouse
    contact owner driver guardian
    """
)
KEYS = _listed("id ids no nr number num key nummer numero")
NAMES = WEAK_IDENTIFIERS["a name"]
KEYS_OF_PEOPLE = (
    *(one + key for one in PEOPLE for key in (*KEYS, *NAMES)),
    *("id" + one for one in PEOPLE),
)
RECORD_KEYS = (*_listed("id ids identifier key"), *NAMES)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents, neighbours joined, and words without their number.

    >>> words_of("First-Name"), words_of("patientID"), words_of("diag2")
    (('first', 'name', 'firstname'), ('patient', 'id', 'patientid'), ('diag2', 'diag'))
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    single = tuple(re.findall(r"[^\W_]+", parted.lower()))
    numbered = (word.rstrip("0123456789") for word in single if word[-1].isdigit())
    return (*single, *(one + other for one, other in pairwise(single)), *filter(None, numbered))


def topic_of(name: str, lists: Words) -> str | None:
    """What a name speaks of by a list of words; nothing if it has none of them.

    >>> topic_of("primary_diagnosis", SENSITIVE), topic_of("page", QUASI)
    ('health', None)
    """
    said = words_of(name)
    for topic, listed in lists.items():
        if any(_stands_for(word, each) for each in said for word in listed):
            return topic
    return None


def says(name: str, listed: tuple[str, ...]) -> bool:
    """Whether one of the words stands in a name, whole."""
    return not set(words_of(name)).isdisjoint(listed)


def _stands_for(word: str, said: str) -> bool:
    return said == word or (len(word) >= STEM and said.startswith(word))
