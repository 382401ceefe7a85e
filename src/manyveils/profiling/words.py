"""What the name of a column suggests: words in English and a few other languages, by topic."""

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

# Words by topic, with a blank between them.
Topics = Mapping[str, str]

# A word of this length or longer also stands for those that begin with it: diagnos-is, diagnos-ed.
STEM = 5


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


# Enough by themselves.
IDENTIFIERS: Topics = {
    "a person's name": "surname lastname firstname forename fullname middlename maidenname initials "
    "nachname vorname prenom apellido cognome achternaam voornaam",
    "an e-mail address": "email emails emailaddress mail courriel correo",
    "a phone number": "phone telephone mobile cellphone fax tel telefon handy",
    "an official number": "ssn passport nino nhs mrn iban bsn dni curp cpf aadhaar socialsecurity "
    "taxid steuernummer personnummer licenseplate driverlicense license licence vin "
    "sozialversicherungsnummer versicherungsnummer",
    "an account": "username userid login accountnumber creditcard cardnumber",
    "an address": "address street adresse strasse hausnummer calle indirizzo adres",
    "a device or a web page": "ip ipaddress url imei mac cookie deviceid token barcode twitter "
    "facebook instagram linkedin",
    "a key of records": "uuid guid rowid recordid patientid personid",
}
# Enough where most rows differ, or where the whole name is one of them.
WEAK_IDENTIFIERS: Topics = {
    "a name": "name names nom nombre nome naam",
    "a number of records": "id ids identifier number nr no num key record account index nummer numero "
    "serial reference",
}
SENSITIVE: Topics = {
    "health": "diagnos diag drg disease ill illness condition symptom treatment therapy drug drugs "
    "medication medicine hiv aids cancer tumor tumour histology topography mental mortality disab "
    "pregnan blood health sick sickness absence icd icd9 icd10 procedure surgery smoker smoking "
    "alcohol bmi cholesterol glucose allerg survival infect krank behinder maladie enfermedad malattia "
    "ziekte drem dphy deye dear dvet ddrs dout dis suicid abuse viral hba1c a1c",
    "money": "income salary wage wages earning revenue capital dividend debt loan credit wealth asset "
    "tax taxes benefit poverty balance pay einkommen gehalt lohn revenu salaire ingreso sueldo reddito "
    "stipendio inkomen pincp povpip wagp hincp",
    "an insurance or a claim": "insur claim claims versicherung assurance seguro",
    "an occupation": "occupation industry unemploy beruf indp occp naicsp",
    "a belief or a membership": "religi faith belief politic party union vote voted orientation sexual "
    "sexuality gewerkschaft partei",
    "the law": "crime criminal offence offense arrest convict prison sentence",
    "a judgement": "score grade grades rating performance gpa iq evaluation",
}
QUASI: Topics = {
    "age": "age ages agep alter edad eta leeftijd",
    "birth": "birth birthday born dob yob geburt naissance nacimiento nascita",
    "sex": "sex gender geschlecht sexe sexo sesso geslacht",
    "origin": "race ethnic hispanic hisp rac1p national citizen ancestry language native origin "
    "immigra staatsang",
    "place": "zip zipcode postcode postal postalcode postleitzahl plz lat lon lng gps city town county "
    "state country region district province municipal residence location latitude longitude puma "
    "hospital clinic ort stadt land ville pays ciudad pais citta gemeente density area",
    "family": "marital married marriage relationship household family child children spouse msp mar "
    "noc npf familienstand",
    "schooling": "education edu school schooling degree student enroll bildung",
    "work": "job workclass worker employ profession work hours department",
    "housing": "housing house home rent tenure",
    "military service": "veteran veterans military",
    "a date": "date datum fecha year month admission admitted discharge visit",
    "the body": "height weight hair eyecolor",
}
SURVEY_WEIGHTS = _words("fnlwgt wgt pwgtp wgtp sampleweight surveyweight instanceweight")
NUMBERS = _words(
    "age agep num number count n hours weeks days years months size persons members children score grade "
    "level amount total noc npf"
)
POSTCODES = _words("zip zipcode postcode postal postalcode postleitzahl plz zcta")
# Whose name or number it is: such a column names people even if most of them have several rows.
PEOPLE = _words(
    "patient patienten record person people personal customer client kunde kunden user member employee "
    "staff mitarbeiter student pupil subject participant respondent citizen national voter resident tenant "
    "account policy claim case encounter insurance doctor physician nurse mother father parent spouse "
    "contact owner driver guardian"
)
# Of these, whom rows are about; the others may stand beside her.
WHOSE = _words(
    "patient patienten person people personal customer client kunde kunden user member employee mitarbeiter "
    "student pupil participant respondent citizen voter resident tenant"
)
BESIDE = _words(
    "doctor physician nurse mother father parent spouse contact owner driver guardian staff insurance claim case "
    "encounter visit shop store clinic hospital school company employer"
)
KEYS = _words("id ids no nr number num key nummer numero")
NAMES = _words(WEAK_IDENTIFIERS["a name"])
KEYS_OF_PEOPLE = (
    *(person + key for person in PEOPLE for key in (*KEYS, *NAMES)),
    *("id" + person for person in PEOPLE),
)
RECORD_KEYS = (*_words("id ids identifier key"), *NAMES)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case without accents, neighbours joined, and words without their number.

    >>> words_of("First-Name"), words_of("patientID"), words_of("diag2")
    (('first', 'name', 'firstname'), ('patient', 'id', 'patientid'), ('diag2', 'diag'))
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    single = tuple(re.findall(r"[^\W_]+", spaced.lower()))
    numbered = (word.rstrip("0123456789") for word in single if word[-1].isdigit())
    return (*single, *(left + right for left, right in pairwise(single)), *filter(None, numbered))


def topic_of(name: str, topics: Topics) -> str | None:
    """The first topic with a word that stands in a name; None if there is none.

    >>> topic_of("primary_diagnosis", SENSITIVE), topic_of("page", QUASI)
    ('health', None)
    """
    in_name = words_of(name)
    for topic, listed in topics.items():
        if any(
            word == stem or (len(stem) >= STEM and word.startswith(stem))
            for word in in_name
            for stem in listed.split()
        ):
            return topic
    return None


def says(name: str, listed: tuple[str, ...]) -> bool:
    """Whether one of the words stands in a name, whole."""
    return not set(words_of(name)).isdisjoint(listed)
