//! What is known of words, by their normal form. The lists are the project's own.

use crate::letters::WordList;

/// Forms of address, academic titles and ranks in front of a name.
pub(super) const TITLES: WordList = WordList(" mr mrs ms miss mx sir dame madam madame lady lord rev reverend hon \
    honorable honourable herr frau fraeulein hr dr drs \
doktor doctor prof professor professorin privatdozent pd dipl dipling diplkfm ing mag dott dottore dottoressa \
dottssa avv avvocato signor \
signora sig don dona donna srta senor senora senorita dna mme mlle monsieur mademoiselle pan pani heer mevrouw dhr \
mevr pastor pfarrer \
bischof bishop rabbi imam sheikh shaikh sheik shaykh hajji haji hadschi mullah maulana ayatollah sayyid sayed capt \
captain kapitaen col \
colonel oberst gen general generalmajor lt lieutenant leutnant maj sgt sergeant adm admiral cmdr commander president \
praesident senator \
minister ambassador ");

/// What follows Dr. or Prof. in titles: Dr. med., Dr. rer. nat., Dr. h. c. mult.
pub(super) const OF_TITLES: WordList = WordList(
    " med dent vet rer nat phil jur iur hc h c ing habil mult oec pol \
    theol techn agr publ em emer ",
);

/// Forms of address that are something else at the end of a name, or alone.
const ONLY_FIRST: WordList = WordList(" sr sra ");

/// Nobility that stands in front of a whole name.
const NOBLE_FIRST: WordList = WordList(
    " count countess viscount viscountess marchioness duchess princess comte \
    comtesse vicomte vicomtesse duc \
duchesse contessa condesa duquesa marquesa infante infanta ",
);

/// Nobility that in German stands between given name and surname as well.
pub(super) const NOBLE: WordList = WordList(
    " graf graefin graf freiherr frhr freifrau freiin fuerst fuerstin herzog \
    herzogin prinz prinzessin ritter edler edle \
markgraf markgraefin landgraf landgraefin pfalzgraf reichsgraf reichsfreiherr baronin baroness ",
);

const SUFFIXES: WordList = WordList(
    " jr sr jnr snr junior senior ii iii iv vi vii viii ix xii xiii xiv xv xvi xvii \
    xviii xix xx xxi xxii xxiii 1st 2nd 3rd 4th phd dphil md do dds dmd dvm jd llb llm llm mba msc \
bsc esq esquire cpa obe mbe cbe kbe kcb qc kc mp mdl mdb ret filho neto ",
);

/// Suffixes that are names as well unless they are written in capitals, or with full stops.
const CAPITAL_SUFFIXES: WordList = WordList(" do vi mp kc md jd ret ix ");

pub(super) const PARTICLES: WordList = WordList(
    " von vom van der den dem de del della delle dello degli dei di da \
    do dos das du des la las los le zu zum zur ten ter te \
op het bin ibn bn abn bnt bint binti ben al el ul af av auf ",
);

/// Particles that are written in one word with what follows, before a hyphen.
pub(super) const JOINED_PARTICLES: WordList = WordList(" al el ad ar as ash at az an ul ");

/// Surnames of Spanish use by which two surnames are known; the most frequent ones of Spain and Spanish America.
pub(super) const SPANISH: WordList = WordList(" garcia rodriguez gonzalez fernandez lopez martinez sanchez perez \
    gomez martin jimenez ruiz hernandez diaz moreno munoz \
alvarez romero alonso gutierrez navarro torres dominguez vazquez ramos gil ramirez serrano blanco molina morales \
suarez ortega delgado castro \
ortiz rubio marin sanz nunez iglesias medina garrido cortes castillo santos lozano guerrero cano prieto mendez cruz \
calvo gallego vidal leon \
marquez herrera pena flores cabrera campos vega fuentes carrasco diez reyes caballero nieto aguilar pascual santana \
herrero lorenzo montero \
hidalgo gimenez ibanez ferrer duran santiago benitez mora vicente vargas arias carmona crespo roman pastor soto saez \
velasco moya soler parra \
esteban bravo gallardo rojas espinoza espinosa chavez rivera juarez mendoza guzman salazar contreras valdez estrada \
sandoval ramirez figueroa \
cardenas avila rios miranda sepulveda munos quispe mamani huaman zapata ");

/// Those of them that are given names in one language or another, so that they can stand before any surname.
pub(super) const GIVEN_TOO: WordList =
    WordList(" martin leon vicente roman santiago lorenzo esteban pascual gil marin ");

/// Surnames that stand first in romanised Chinese, if what follows is made of Chinese syllables.
pub(super) const CHINESE: WordList = WordList(" wang li zhang liu chen yang zhao huang zhou wu xu sun zhu ma hu guo \
    lin he gao liang zheng luo song xie tang han feng \
deng cao peng zeng xiao tian dong pan yuan cai jiang yu du ye cheng wei su lu ding ren lu yao shen zhong cui tan lu \
fan wang liao shi jin jia \
xia fu fang zou xiong bai meng qin qiu hou mao xi hua ouyang sima zhuge shangguan ");

/// Surnames that stand first in romanised Korean, if what follows is made of Korean syllables.
pub(super) const KOREAN: WordList = WordList(
    " kim lee rhee yi park pak choi choe jung jeong chung kang cho jo yoon \
    yun jang chang lim im han oh seo suh shin kwon \
hwang ahn an ban roh noh song ryu yoo yu hong moon mun bae baek paik nam ",
);

pub(super) const KOREAN_SYLLABLES: WordList = WordList(" ah bae beom bin bo bok bum chan cheol chol chul dae do dong \
    duk eon eun ga gap geon geun gi gon gu guk gun gyeong ha \
hae han hee heon heung ho hong hoon hui hun hwa hwan hwi hye hyeok hyeon hyo hyuk hyun hyung il im in jae je jeong \
ji jin jo jong joo joon ju \
jun jung kee keun ki kon kook kuk kun kwan kwang kyeong kyong kyu kyun kyung mi min mo mok moo moon myeong myong \
myung na nam oh ok rae rak ran ri rim \
ryong sang se seok seon seong seop seul seung shik shin si sik sil so sol soo sook su sub suk sun sung tae taek ui \
uk un wan weon won woo woong \
yang ye yeol yeon yeong yi yo yol yon yong yoo yoon you young yu yul yun yung ");

/// Surnames that stand first in Vietnamese.
pub(super) const VIETNAMESE: WordList =
    WordList(" nguyen tran pham huynh hoang phan vu dang bui ngo duong truong ");

/// Surnames that stand first in other romanisations, if a word of two syllables with a hyphen follows.
pub(super) const BEFORE_HYPHEN: WordList =
    WordList(" chiang wong chan cheung leung lam tsai tsang hsu kwok tse chow ng lau chiu ");

/// Rulers, in front of one word, or of a name with a number: King Charles III, Papst Benedikt XVI.
const RULERS: WordList = WordList(
    " king queen prince princess pope papst papa pape roi reine rey reina re regina \
    emperor empress tsar zar sultan ",
);

/// Rulers that are surnames as well, in front of a name with a number.
const RULERS_BY_NUMBER: WordList = WordList(" koenig koenigin kaiser kaiserin ");

/// Before the name that a person was born with.
const BORN: WordList = WordList(" geb geborene geborener born nee ne nata nato rozena ");

/// Legal forms of companies.
const LEGAL_FORMS: WordList = WordList(
    " gmbh ggmbh mbh kgaa ohg gbr ltd inc llc llp plc corp sarl sasu eurl srl \
    srls slu sau limited incorporated gesellschaft \
corporation aktiengesellschaft stiftung verein ",
);

/// Those that are words as well, unless they are written in capitals among others that are not, or with full stops.
const SHORT_LEGAL_FORMS: WordList =
    WordList(" ag kg ug ev ek eg se sa sl spa sas snc bv nv oy ab pty ");

/// In front of a name of two words or more.
pub(super) fn is_first_title(key: &str) -> bool {
    ONLY_FIRST.has(key) || NOBLE_FIRST.has(key)
}

/// Behind a name. `written` is the word as it stands.
pub(super) fn is_suffix(key: &str, written: &str) -> bool {
    let in_capitals = || written.contains('.') || !written.chars().any(char::is_lowercase);
    SUFFIXES.has(key) && (!CAPITAL_SUFFIXES.has(key) || in_capitals())
}

/// A ruler; `number` says that a Roman number follows the name.
pub(super) fn is_ruler(key: &str, number: bool) -> bool {
    RULERS.has(key) || number && RULERS_BY_NUMBER.has(key)
}

/// Before the name at birth. Those that are names, too, are written small.
pub(super) fn is_born(key: &str, written: &str) -> bool {
    let small = !written.chars().any(char::is_uppercase);
    BORN.has(key)
        && (small || key == "geb" && written.ends_with('.') || key.starts_with("geborene"))
        && (key != "ne" || written == "né")
}

/// A legal form of a company. `written` is the word as it stands, `capitals` says that all of the text is in capitals.
pub(super) fn is_legal_form(key: &str, written: &str, capitals: bool) -> bool {
    let plain = |c: char| c == '.' && written.chars().filter(|&c| c == '.').count() > 1;
    let short = written.chars().any(plain) || !capitals && !written.chars().any(char::is_lowercase);
    LEGAL_FORMS.has(key) || SHORT_LEGAL_FORMS.has(key) && short || key == "ev" && written == "eV"
}
