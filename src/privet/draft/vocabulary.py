"""Words in names of columns that give away what a column is for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """Words that give a column away."""

    words: frozenset[str]
    """Found only as whole words: "age" is not in "wage"."""
    stems: tuple[str, ...]
    """Found inside words too: "diagnos" is in "Hauptdiagnose"."""
    beginnings: tuple[str, ...] = ()
    """Found where a word begins: "educ" is in "educw"."""
    ends: tuple[str, ...] = ()
    """Found where a word ends: "inc" is in "faminc"."""

    def find(self, words: Iterable[str]) -> str:
        """Give the first word that is known, or an empty text."""
        return next((word for word in words if self._knows(word)), "")

    def _knows(self, word: str) -> bool:
        return (
            word in self.words
            or word.startswith(self.beginnings)
            or word.endswith(self.ends)
            or any(stem in word for stem in self.stems)
        )


def parse_vocabulary(entries: str) -> Vocabulary:
    """Read words apart by spaces; a star marks a stem, a hyphen where a word goes on.

    >>> parse_vocabulary("age diagnos* educ- -inc")
    ... # doctest: +NORMALIZE_WHITESPACE
    Vocabulary(words=frozenset({'age'}), stems=('diagnos',), beginnings=('educ',),
    ends=('inc',))
    """
    marked = [e for e in entries.split() if e.endswith(("*", "-")) or e[0] == "-"]
    return Vocabulary(
        frozenset(e for e in entries.split() if e not in marked),
        tuple(e[:-1] for e in marked if e.endswith("*")),
        tuple(e[:-1] for e in marked if e.endswith("-")),
        tuple(e[1:] for e in marked if e.startswith("-")),
    )


def list_words(entries: str) -> frozenset[str]:
    """Words apart by spaces."""
    return frozenset(entries.split())


# English, German, French, Spanish; without accents, ß as ss.
DIRECT = parse_vocabulary(
    "ssn nino nhs mrn dni nif nie cpf iban ip imei uuid guid url mail email* courriel* "
    "correo phone* telephon* telefon* mobile handy fax passport* passeport* pasaporte* "
    "ausweis* licence* license* fuhrerschein* permis plate kennzeichen* matricula "
    "firstname* lastname* fullname* forename* surname* username* vorname* nachname* "
    "familienname* prenom* apellido* login street* strasse* rue calle address* adress* "
    "direccion* domicilio* hausnummer* fingerprint* photo* foto* signature* "
    "steuernummer* socialsecurity* sozialversicherung* creditcard* kreditkarte* "
    "tarjeta insurancenumber* insuranceid* policynumber* cardnumber* taxid* taxnumber*"
)
NAME = parse_vocabulary("name names namen nom noms nombre nombres")
NUMBER = parse_vocabulary(
    "id ids pid uid nr no num number nummer* numero key identifier identifiant "
    "identificador kennung obs rownum rowid index subject patient individual person "
    "respondent participant hid indiv persnum pnr lfdnr"
)
PERSON = parse_vocabulary(
    "patient* person* customer* client* employee* user* member* student* pupil* "
    "subject* participant* respondent* case account konto compte cuenta kunde* "
    "mitarbeiter* versichert* teilnehmer* schuler* salarie* usager* paciente* "
    "empleado* usuario* alumno* first last full family given middle maiden birth "
    "famille jeune* completo complet de des of du the el la int"
)
BIRTH = parse_vocabulary("birth birth- -birth geburt* naissance* nacimiento* dob yob")
AGE = parse_vocabulary("age ages alter edad agew ageh agegrp agegp agecat agegroup")
NOT_AGES = parse_vocabulary(
    "wage stage page image average mileage village language marriage percentage usage "
    "package postage damage storage voltage message garage coverage dosage passage "
    "agency agent agenda agree agreement agreed aggression image triage brokerage "
    "sewage lineage engage manage teenage advantage encourage percentage -stage -wage"
)
"""Words that begin or end like ages."""
POST = parse_vocabulary("zip zipcode* plz postcode* postal* postleitzahl* cp")
KNOWN = parse_vocabulary(
    "sex sexe sexo gender* geschlecht* genre genero female male fem women city stadt "
    "town- ville ciudad ort wohnort* gemeinde* municipal* commune village region* "
    "county district* bezirk* canton kanton state states bundesland* province* "
    "provincia* departement* country* land pays pais residence wohnsitz neighbourhood* "
    "neighborhood* quartier barrio latitude* longitude* lat lon long lng location site "
    "urban* rural* north south east west occupation* job jobs beruf* profession* "
    "profesion* metier oficio workclass* prof employ- arbeitgeber* arbeit- work- -work "
    "industry* industrie* branche rank position educ- bildung* school- -school schul* "
    "degree* college estudios etudes major marital* mari- marr- familienstand* civil "
    "married verheiratet* casado single ledig divorc- kids kid kid- -kids children "
    "child child- enfants kinder hijos nsibs siblings family familie* household* "
    "haushalt* hogar menage relationship* language* sprache* langue idioma* "
    "experience* exper tenure insurance* versicherung* assurance* seguro* insured "
    "medicaid hmo admitted* admission* aufnahme* entlass* ward station hospital "
    "hospitals hospitalname krankenhaus* krankenkasse* clinic clinics klinik* center "
    "centre inst institution department* dept abteilung* team- league- div military* "
    "veteran* height weight gewicht poids peso population popul year years yr jahr "
    "annee ano"
)
ORIGIN = parse_vocabulary(
    "race races eth ethn ethni* black white nonwhite hispanic* hisp asian latino "
    "nation nationalit* nacionalidad* staatsangehorig* citizen- native nativity "
    "foreign* migra* immigrant- herkunft* hautfarbe raza etnia* etnico* origin origine "
    "origen abstammung* birthplace geburtsland minority aborigin* tribe caste"
)
AIM = parse_vocabulary(
    "target* label* class classe klasse clase ziel* outcome* rating* score* y response "
    "churn* default survived* result results ergebnis* resultat* resultado* decision*"
)
MULTIPLE = parse_vocabulary(
    "count counts cnt n freq freqs frequency weight weights rows records anzahl "
    "haufigkeit haeufigkeit gewicht effectif effectifs frequence poids frecuencia "
    "cantidad peso"
)
FILLERS = parse_vocabulary("of no num number nb the row record people persons")
OTHER = parse_vocabulary(
    "hours hour stunden horas heures visit wave trial item censor cens censored delta "
    "enum rep replicate period"
)
"""What is counted of people, and tells little of them."""

PEOPLE = parse_vocabulary(
    "sex sexe sexo gender* geschlecht* genero female male age ages alter edad birth "
    "birth- geburt* naissance* nacimiento* dob marital* married familienstand* kids "
    "children kinder enfants hijos patient* person* respondent* student* pupil* "
    "subject firstname* lastname* surname* vorname* nachname* prenom* apellido* race "
    "ethni* ethn"
)
"""Words that only tables about people have."""

CARE = parse_vocabulary(
    "patient* paciente* hospital* krankenhaus* hopital clinic* klinik* ward station "
    "admitted* admission* aufnahme* entlass* discharge* versichertennummer*"
)
"""Words of hospitals: where one column is about health, all of the table is."""

GIVEN_NAMES = list_words(
    "james john robert michael william david richard joseph thomas charles mary "
    "patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy "
    "betty mike margaret sandra ashley emily donna michelle daniel matthew anthony "
    "mark donald jim steven paul andrew joshua kenneth kevin brian george edward "
    "ronald timothy jason hans peter wolfgang klaus jurgen dieter uwe stefan andreas "
    "monika ursula petra sabine renate helga karin brigitte anna maria lukas leon "
    "felix jonas lena laura jean pierre michel andre philippe rene louis alain jacques "
    "bernard marie jeanne francoise monique catherine nathalie isabelle sylvie sophie "
    "claire camille luc jose antonio manuel francisco juan pedro jesus javier carlos "
    "miguel luis carmen ana isabel dolores pilar teresa rosa cristina lucia marta "
    "elena paula sofia diego mohammed mohamed muhammad ahmed ali fatima aisha omar "
    "hassan ibrahim yusuf zeynep wei li chen yuki hiroshi priya raj amit olga ivan "
    "dmitri svetlana giovanni marco giulia chiara luca francesca ada grace alice bob "
    "eve tom ed emma oliver noah liam tony dave steve chris joe bill larry gary greg "
    "scott jeff tim terry frank harold"
)
"""Common first names; Mark and Grace may be other things, so most must be names."""


def strip_accents(text: str) -> str:
    """The text without accents."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def split_words(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words without accents, and the whole in one.

    >>> split_words("PatientID"), split_words("Größe in cm")
    (('patient', 'id', 'patientid'), ('grosse', 'in', 'cm', 'grosseincm'))
    """
    plain = strip_accents(name)
    humps = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    spaced = re.sub(humps, " ", plain).casefold()
    words = tuple(re.findall(r"[^\W\d_]+", spaced))
    return words if len(words) < 2 else (*words, "".join(words))
