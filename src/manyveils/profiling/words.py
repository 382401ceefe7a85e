"""What the name of a column suggests: words in English and a few other languages, by topic."""

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

# Words by topic, with a blank between them.
Topics = Mapping[str, str]

# A word of this length or longer also stands for those that begin with it: diagnos-is, diagnos-ed.
STEM = 5
# Names of drugs are long; shorter words with their endings are others.
LONG_WORD = 8


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


# Enough by themselves.
IDENTIFIERS: Topics = {
    "a person's name": "surname lastname firstname forename fullname middlename maidenname initials "
    "nachname vorname prenom apellido cognome achternaam voornaam sobrenome imie nazwisko",
    "an e-mail address": "email emails emailaddress mail courriel correo",
    "a phone number": "phone telephone mobile cellphone fax tel telefon handy telefono movil",
    "an official number": "ssn passport nino nhs mrn iban bsn dni curp cpf aadhaar socialsecurity "
    "taxid steuernummer personnummer licenseplate driverlicense license licence vin pesel insee matricule "
    "sozialversicherungsnummer versicherungsnummer personalnummer ausweisnummer",
    "an account": "username userid login accountnumber creditcard cardnumber",
    "an address": "address street adresse strasse hausnummer calle indirizzo adres direccion endereco",
    "a device or a web page": "ip ipaddress url imei mac cookie deviceid token barcode twitter "
    "facebook instagram linkedin",
    "a key of records": "uuid guid rowid recordid patientid personid serialno caseno casenumber caseid "
    "sequencenumber recordnumber aktenzeichen pernum perno personnumber pid uid subjid hhid",
}
# Enough where most rows differ, or where the whole name is one of them.
WEAK_IDENTIFIERS: Topics = {
    "a name": "name names nom nombre nome naam first last",
    "a number of records": "id ids identifier number nr no nbr num key record account index nummer numero "
    "serial reference ref ",
}
SENSITIVE: Topics = {
    "health": "diagnos diag diagnosa dx drg ccs disease ill illness condition symptom treatment therapy drug "
    "drugs medication medicine medical medikation hiv aids cancer tumor tumour histology topography mental mortality "
    "disab pregnan blood health sick sickness absence icd icd9 icd10 procedure surgery smoker smoking smoke "
    "alcohol alc drink bmi cholesterol glucose allerg survival infect krank behinder maladie enfermedad malattia "
    "ziekte drem dphy deye dear dvet ddrs dout dis suicid abuse viral hba1c a1c a1cresult "
    "readmi relapse recurren complicat insulin diabet hypertens hipertens cardio cardiac heart stroke asthma asma "
    "pneumon neumon obes copd renal kidney liver hepat depress anxiety psychiat psychol dementia alzheim arthrit "
    "covid vaccin lab labs biopsy serum triglycer hemoglob haemoglob creatinin platelet hematocrit systolic "
    "diastolic pulse heartrate oxygen ecg mri dose dosage prescri death dead died deceas decease morta fatal "
    "survived surviv injur inj injury severity sev wound trauma intensive icu intubat ventilat inpatient outpatient "
    "emergency disposition tobacco tabac tabaq rauch embaraz schwanger grossesse handicap impair fracture pain "
    "stillbirth",
    "money": "income inc salary wage wages earning revenue capital dividend debt loan credit wealth asset "
    "tax taxes benefit poverty balance pay einkommen gehalt lohn revenu salaire ingreso sueldo reddito "
    "stipendio inkomen pincp povpip wagp hincp amount amnt amt charge charges cost costs fare fee price paid "
    "payment reimb expens savings mortgage bonus pension kosten betrag bruttolohn nettolohn bruttogehalt nettogehalt verdienst vergutung verguetung schulden nomina montant importe coste precio "
    "interest premium purchase spend spent",
    "an insurance or a claim": "insur claim claims versicherung assurance seguro assicuraz payer payor",
    "an occupation": "occupation industry unemploy beruf tatigkeit taetigkeit arbeitslos chomage indp occp naicsp",
    "a belief or a membership": "religi faith belief politic party union vote voted orientation sexual "
    "sexuality gewerkschaft partei syndicat sindicat religion konfession",
    "the law": "crime criminal offence offense arrest convict prison sentence jail felony misdemean recid victim "
    "prior priors probation custody parole violat ",
    "a judgement": "score grade grades rating performance gpa iq evaluation satisfact mark marks exam fail failure "
    "failures default churn attrition dismiss complain zeugnis kundigung kuendigung licenciement despido abmahnung ",
    "relations": "divorced affair",
}
# Whole names that tables for learning give to what is to be predicted.
OUTCOMES = ("y", "class", "target", "label", "outcome", "response", "result")
# Endings of the international names of drugs, as in metformin, simvastatin and lisinopril.
DRUGS = re.compile(
    r"(formin|gliptin|glitazone|glinide|glipizide|glyburide|statin|sartan|dipine|olol|prazole|cillin|mycin|oxetine"
    r"|azepam|azolam|afloxacin|floxacin|mab|tinib|vir|thiazide|butamide|propamide|zolamide|carbose|codone|morphine)$"
)
QUASI: Topics = {
    "age": "age ages agep alter edad eta leeftijd idade wiek",
    "birth": "birth birthday born dob yob geburt naissance nacimiento nascita nascimento geboorte",
    "sex": "sex gender geschlecht sexe sexo sesso geslacht",
    "origin": "race ethnic hispanic hisp rac1p national nacional citizen ancestry language native origin foreign "
    "immigra migra staatsang sprache langue idioma",
    "place": "zip zipcode postcode postal postalcode postleitzahl plz lat lon lng gps city town county "
    "state country region district province municip residence resid location latitude longitude puma "
    "hospital clinic ort wohnort stadt land bundesland ville pays ciudad pais citta gemeente gemeinde density area "
    "facility ward urban rural entidad departement canton commune comuna borough tract distance",
    "how long or how often something was": "duration lengthofstay los stay",
    "family": "marital married marriage relationship household family child children spouse msp mar "
    "noc npf familienstand famil partner dependents sibling siblings kids enfants hijos figli kinder "
    "civil conjug guardian mother father",
    "schooling": "education educ edu school schooling degree student enroll bildung qualif diploma escolar",
    "work": "job workclass worker employ profession work hours department abteilung role position seniority business "
    "company employer title",
    "housing": "housing house home rent tenure ownership tenant",
    "military service": "veteran veterans military",
    "a date": "date dates datum fecha year month timestamp dt",
    "a stay or a visit": "admission admitted admit discharge disch visit aufnahme entlass",
    "the body": "height weight hair eyecolor",
    "a possession or a service": "car vehicle telephone internet",
}
# Words that make a name one of durations and counts, whatever else stands in it.
DURATIONS = _words("time duration length days hours minutes weeks months los")
SURVEY_WEIGHTS = _words("fnlwgt wgt pwgtp wgtp wt pwt sampleweight surveyweight instanceweight")
CODES = _words(
    "code codes cd type typ kind category cat class group flag indicator ident icd icd9 icd10 drg ccs id diag status"
)
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
# Where e-mail addresses stand below such a name, they are those of whom rows are about.
REACHED_BY = _words("contact")
KEYS = _words("id ids no nr nbr number num key nummer numero")
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


def names_a_drug(name: str) -> bool:
    """Whether a name has the name of a drug in it, as far as their endings tell.

    >>> names_a_drug("metformin"), names_a_drug("glimepiride-pioglitazone"), names_a_drug("origin")
    (True, True, False)
    """
    return any(len(word) >= LONG_WORD and DRUGS.search(word) for word in words_of(name))


def says(name: str, listed: tuple[str, ...]) -> bool:
    """Whether one of the words stands in a name, whole."""
    return not set(words_of(name)).isdisjoint(listed)
