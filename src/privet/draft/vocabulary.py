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

    def find(self, words: Iterable[str]) -> str:
        """Give the first word that is known, or an empty text."""
        for word in words:
            if word in self.words or any(stem in word for stem in self.stems):
                return word
        return ""


def parse_vocabulary(entries: str) -> Vocabulary:
    """Read words apart by spaces; a star marks a stem."""
    stems = tuple(entry[:-1] for entry in entries.split() if entry.endswith("*"))
    words = (entry for entry in entries.split() if not entry.endswith("*"))
    return Vocabulary(frozenset(words), stems)


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
    "identificador kennung"
)
PERSON = parse_vocabulary(
    "patient* person* customer* client* employee* user* member* student* pupil* "
    "subject* participant* respondent* case account konto compte cuenta kunde* "
    "mitarbeiter* versichert* teilnehmer* schuler* salarie* usager* "
    "paciente* empleado* usuario* alumno* first last full family given middle "
    "maiden birth famille jeune* completo complet de des of du the el la"
)
PROTECTED = parse_vocabulary(
    "diagnos* disease* illness* krankheit* erkrank* maladie* enfermedad* hiv aids vih "
    "sida icd condition* medication* medikament* medicament* drug drugs treatment* "
    "behandl* therap* traitement* tratamiento* symptom* sintoma* disab* behinder* "
    "handicap* discapacidad* pregnan* schwanger* grossesse embarazo genetic* genom* "
    "dna blood* mental psychi* cancer* smok* alcohol* income* salary* salaries wage "
    "wages pay earning* gehalt* lohn einkommen* verdienst* salaire* revenu* salario* "
    "sueldo* ingresos* debt* schulden* deuda* bankrupt* insolv* balance* capital "
    "wealth vermogen* credit kredit* mortgage* loan loans tax steuer* religio* "
    "konfession* faith party partei* politic* vote* union gewerkschaft* syndicat* "
    "sindicato* sexual* orientation* crime* criminal* convict* arrest* vorstraf* "
    "offence* offense* delito* asyl* visa welfare problem"
)
BIRTH = parse_vocabulary("birth* geburt* naissance* nacimiento* dob yob")
AGE = parse_vocabulary("age ages alter edad")
POST = parse_vocabulary("zip zipcode* plz postcode* postal* postleitzahl* cp")
KNOWN = parse_vocabulary(
    "sex sexe sexo gender* geschlecht* genre genero city stadt town ville ciudad ort "
    "wohnort* gemeinde* municipality* commune village region* county district* bezirk* "
    "canton kanton state bundesland* province* provincia* departement* country* land "
    "pays pais nation nationalit* nacionalidad* staatsangehorig* citizenship* native "
    "neighbourhood* neighborhood* quartier barrio latitude* longitude* location "
    "occupation* job jobs beruf* profession* profesion* metier oficio workclass* "
    "employer* employment* arbeitgeber* industry* branche education* bildung* school* "
    "schul* degree* estudios etudes marital* familienstand* civil married verheiratet* "
    "race ethni* relationship* household* haushalt* children child kids kinder enfants "
    "hijos family familie* language* sprache* langue idioma* insurance* versicherung* "
    "assurance* seguro* admitted* admission* aufnahme* entlass* discharge* ward "
    "station hospital* krankenhaus* krankenkasse* clinic* klinik* department* "
    "abteilung* military* veteran* height"
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
HEAVY = parse_vocabulary("weight weights gewicht poids peso")  # of rows, or of bodies?
FILLERS = parse_vocabulary("of no num number nb the row record people persons")


def split_words(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words without accents, and the whole in one.

    >>> split_words("PatientID"), split_words("Größe in cm")
    (('patient', 'id', 'patientid'), ('grosse', 'in', 'cm', 'grosseincm'))
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    humps = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    spaced = re.sub(humps, " ", plain).casefold()
    words = tuple(re.findall(r"[^\W\d_]+", spaced))
    return words if len(words) < 2 else (*words, "".join(words))
