"""Topics that nobody should learn of a person, by words in names and in values.

They follow the special categories of the GDPR (Article 9) and criminal matters (Article
10), with money beside them. English, German, French and Spanish; without accents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from privet.draft.vocabulary import (
    Vocabulary,
    list_words,
    parse_vocabulary,
    split_words,
)


@dataclass(frozen=True)
class Topic:
    """Something that nobody should learn of a person."""

    key: str
    """How the checklist calls it."""
    names: Vocabulary
    """Words in names and labels of columns."""
    values: Vocabulary
    """Words in values."""


HEALTH = Topic(
    "health",
    parse_vocabulary(
        "diagnos* diag dx disease* diseases illness* krank krankheit* erkrank* "
        "maladie* enfermedad* hiv aids vih sida icd condition* medication* medikament* "
        "medicament* medecin* medicin* meds prescri* drug drugs treatment* treat trt "
        "rx behandl* therap* traitement* tratamiento* symptom* sintoma* disab* "
        "behinder* handicap* discapacidad* invalid* pregnan* schwanger* grossesse "
        "enceinte embaraz* genetic* genom* dna adn blood* blut* sang sangre mental "
        "psych* cancer* krebs* tumor* tumour* smok* fumador* raucher* tabac* tobac* "
        "alcohol* health* hlth- -hlth gesund* salud sante surg- surger* chirurg* "
        "biops* bmi glu glucose insulin* chol cholester* hdl ldl trig bp systolic* "
        "diastolic* pulse puls* hemoglob* hgb creat creatin* platelet* albumin* alb "
        "bili bilirub* ast alt alp ggt crp wbc rbc hct esr psa ecg dose dosis vaccin* "
        "impf* infect* infekt* seizure* fever fieber cough pain schmerz* nausea "
        "depress* anxi* bdi- death* dead died dies deces* muerte tod sterbe- mortal* "
        "surviv* relapse* remission* recurr* chronic* doctor- arzt arztbesuch* "
        "physician* nurse hospadmi hospdays los wheez* breathl* asthma* diabet* "
        "hypert* stroke tubercul* hepat- malaria* covid* corona- allerg* abort* "
        "contracep* steroid* transplant* karno- ecog- bweight birthweight bwt lesion* "
        "rash procedure* toxic* adverse autopsy iq"
    ),
    parse_vocabulary(
        "diabet* cancer* carcin* tumor* tumour* krebs leuk* hiv aids sida vih "
        "hepatitis malaria tubercul* asthma* epilep* depress* schizo* bipolar anxiety "
        "dementia alzheim* parkinson* stroke infarct* hypertens* pneumon* influenza "
        "flu grippe gripe covid* infection* infekt* fracture* arthrit* cirrhos* nephr* "
        "placebo chemother* surgery pregnan* schwanger* enceinte embaraz* abortion "
        "smoker* nonsmoker* raucher* fumeur* fumador* malignant benign neoplasm* "
        "circulatory respiratory disab* behindert* handicap* hysterect* allergi* "
        "hospitali* diagnos* syndrom* disorder* disease* krankheit* maladie* "
        "enfermedad* anorex* bulim* autis* migraine* obes* anemi* anaemi* sepsis"
    ),
)
SEXUALITY = Topic(
    "sexuality",
    parse_vocabulary(
        "sexual* sexuell* orientation* affair* homosex* heterosex* gay lesbi* bisex* "
        "condom* "
        "partners prostitu* std sti sexlife sexleben transgender* intersex*"
    ),
    parse_vocabulary(
        "homosex* heterosex* bisex* lesbi* gay schwul* queer transgender* transsex* "
        "intersex* asexual* pansex*"
    ),
)
RELIGION = Topic(
    "religion",
    parse_vocabulary(
        "relig* konfession* glaube* faith confession church kirche* eglise iglesia "
        "culto catholic* catoli* protestant* muslim* islam* jewish judio* juif* "
        "worship"
    ),
    parse_vocabulary(
        "catholic* catholique* catolic* katholi* protestant* evangeli* muslim* islam* "
        "musulman* moslem* jewish judio* juif* judisch* hindu* buddhis* budist* "
        "bouddhi* sikh* atheis* agnosti* orthodox* mormon* christian* christlich "
        "chretien* cristian* methodis* baptist* lutheran* anglican* konfessionslos"
    ),
)
POLITICS = Topic(
    "politics",
    parse_vocabulary(
        "party partei* partido parti politic* polit- polint ideol* partyid vote votes "
        "voter voted voting vote- novote* wahl wahl- voto voto- votant union unions "
        "unionis* gewerkschaft* syndicat* sindicat* leftright selflr democrat* "
        "republican* candidate*"
    ),
    parse_vocabulary(
        "democrat* republican* labour tory conservative* liberal* socialist* "
        "socialdemocra* communis* kommunis* spd cdu csu fdp afd psoe vox podemos "
        "gaullis* nationalis* independent unionis* gewerkschaft* clinton trump obama "
        "bush perot gore biden leftist rightist grune verts"
    ),
)
MONEY = Topic(
    "money",
    parse_vocabulary(
        "income* -inc linc inc salar- sal wage wages wage- -wage lwage pay paid earn* "
        "-earn gehalt* -gehalt lohn* -lohn einkommen* verdienst* salaire* revenu* "
        "salario* sueldo* ingreso* renta debt* schuld* deuda* dette* bankrupt* insolv* "
        "balance* capital wealth vermogen* credit kredit* mortgage* hypothek* loan "
        "loans tax taxes steuer* impot* impuesto* welfare sozialhilfe benefit* poverty "
        "armut pobreza expend* -exp totexp spending ausgaben budget* cost costs kosten "
        "foodstamp* freelun* bonus pension* rente hinc"
    ),
    parse_vocabulary(
        "bankrupt* insolv* foreclos* unemployed arbeitslos* chomeur* desempleado* "
        "defaulted discharged overdrawn indebted verschuldet"
    ),
)
CRIME = Topic(
    "crime",
    parse_vocabulary(
        "crime crimes criminal* convict* arrest* offence* offense* delito* vorstraf* "
        "straf- haft prison* jail* inmate* sentence felon* victim* verdict asyl* asile "
        "refugee* fluchtling* refugie* refugiad* visa parole probation homicid*"
    ),
    parse_vocabulary(
        "homicid* murder* theft robbery burglar* assault* convict* arrest* felon* "
        "prison* misdemean* guilty fraud manslaughter rape shooting diebstahl mord "
        "betrug vol meurtre robo asesinato asylum refugee* asyl*"
    ),
)
TOPICS = (HEALTH, SEXUALITY, RELIGION, POLITICS, MONEY, CRIME)

ORIGIN_VALUES = parse_vocabulary(
    "black white asian hispanic* hisp latino latina african* african-american "
    "caucasian* indian native aborigin* arab* european turk* gypsy roma negro blanco "
    "indigena* deutsch francais espanol* german french spanish chinese mexican* polish "
    "italian irish pakistani bangladeshi caribbean"
)
SEX_VALUES = list_words(
    "m f male female man woman men women boy girl mann frau mannlich weiblich divers "
    "homme femme masculin feminin hombre mujer masculino femenino w h boys girls"
)
MARITAL_VALUES = parse_vocabulary(
    "married single divorced widow* separated unmarried spouse ledig verheiratet "
    "geschieden verwitwet marie mariee celibataire divorce divorcee veuf veuve casado "
    "casada soltero soltera divorciado divorciada viudo viuda"
)
PLACES = list_words(
    "usa us uk germany france spain italy canada mexico brazil china india japan "
    "russia australia england scotland wales ireland austria switzerland belgium "
    "netherlands poland sweden norway denmark finland portugal greece turkey argentina "
    "chile deutschland frankreich spanien italien osterreich schweiz allemagne espagne "
    "italie suisse belgique espana francia alemania europe asia africa america midwest "
    "northeast southwest northwest southeast london paris berlin madrid"
)
STATES = list_words(
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne "
    "nv nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy"
)
"""The states of the USA, as the post writes them."""


def find_topic(words: Iterable[str]) -> tuple[Topic, str] | None:
    """The first topic that a word of a name tells, and the word."""
    words = tuple(words)
    for topic in TOPICS:
        if found := topic.names.find(words):
            return topic, found
    return None


def find_value_topic(values: Collection[str]) -> tuple[Topic, str] | None:
    """The topic of some values: of a few, one must tell it; of many, one in four.

    The word comes from the list here, never from a cell.
    """
    split = [split_words(value) for value in values]
    for topic in TOPICS:
        telling = sum(bool(topic.values.find(words)) for words in split)
        if telling and (telling * 4 >= len(split)):
            return topic, topic.key
    return None


def measure_words(values: Collection[str], known: Vocabulary) -> float:
    """The share of values that hold a known word."""
    if not values:
        return 0.0
    return sum(bool(known.find(split_words(v))) for v in values) / len(values)
