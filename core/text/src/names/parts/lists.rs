//! What is known of words, by their normal form. The lists are the project's own.

/// Forms of address, academic titles and ranks in front of a name.
const TITLES: &str = " mr mrs ms miss mx sir dame madam madame lady lord rev reverend hon honorable honourable herr frau fraeulein hr dr drs \
doktor doctor prof professor professorin privatdozent pd dipl dipling diplkfm ing mag dott dottore dottoressa dottssa avv avvocato signor \
signora sig don dona donna srta senor senora senorita dna mme mlle monsieur mademoiselle pan pani heer mevrouw dhr mevr pastor pfarrer \
bischof bishop rabbi imam sheikh shaikh sheik shaykh hajji haji hadschi mullah maulana ayatollah sayyid sayed capt captain kapitaen col \
colonel oberst gen general generalmajor lt lieutenant leutnant maj sgt sergeant adm admiral cmdr commander president praesident senator \
minister ambassador ";

/// What follows Dr. or Prof. in titles: Dr. med., Dr. rer. nat., Dr. h. c. mult.
const OF_TITLES: &str = " med dent vet rer nat phil jur iur hc h c ing habil mult oec pol theol techn agr publ em emer ";

/// Forms of address that are something else at the end of a name, or alone.
const ONLY_FIRST: &str = " sr sra ";

/// Nobility that stands in front of a whole name.
const NOBLE_FIRST: &str = " count countess viscount viscountess marchioness duchess princess comte comtesse vicomte vicomtesse duc \
duchesse contessa condesa duquesa marquesa infante infanta ";

/// Nobility that in German stands between given name and surname as well.
const NOBLE: &str = " graf graefin graf freiherr frhr freifrau freiin fuerst fuerstin herzog herzogin prinz prinzessin ritter edler edle \
markgraf markgraefin landgraf landgraefin pfalzgraf reichsgraf reichsfreiherr baronin baroness ";

const SUFFIXES: &str = " jr sr jnr snr junior senior ii iii iv vi vii viii ix xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii 1st 2nd 3rd 4th phd dphil md do dds dmd dvm jd llb llm llm mba msc \
bsc esq esquire cpa obe mbe cbe kbe kcb qc kc mp mdl mdb ret filho neto ";

/// Suffixes that are names as well unless they are written in capitals, or with full stops.
const CAPITAL_SUFFIXES: &str = " do vi mp kc md jd ret ix ";

const PARTICLES: &str = " von vom van der den dem de del della delle dello degli dei di da do dos das du des la las los le zu zum zur ten ter te \
op het bin ibn bn abn bnt bint binti ben al el ul af av auf ";

/// Particles that are written in one word with what follows, before a hyphen.
const JOINED_PARTICLES: &str = " al el ad ar as ash at az an ul ";

/// Surnames of Spanish use by which two surnames are known; the most frequent ones of Spain and Spanish America.
const SPANISH: &str = " garcia rodriguez gonzalez fernandez lopez martinez sanchez perez gomez martin jimenez ruiz hernandez diaz moreno munoz \
alvarez romero alonso gutierrez navarro torres dominguez vazquez ramos gil ramirez serrano blanco molina morales suarez ortega delgado castro \
ortiz rubio marin sanz nunez iglesias medina garrido cortes castillo santos lozano guerrero cano prieto mendez cruz calvo gallego vidal leon \
marquez herrera pena flores cabrera campos vega fuentes carrasco diez reyes caballero nieto aguilar pascual santana herrero lorenzo montero \
hidalgo gimenez ibanez ferrer duran santiago benitez mora vicente vargas arias carmona crespo roman pastor soto saez velasco moya soler parra \
esteban bravo gallardo rojas espinoza espinosa chavez rivera juarez mendoza guzman salazar contreras valdez estrada sandoval ramirez figueroa \
cardenas avila rios miranda sepulveda munos quispe mamani huaman zapata ";

/// Those of them that are given names in one language or another.
const GIVEN_TOO: &str = " martin leon vicente roman santiago lorenzo esteban pascual gil marin ";

/// Surnames that stand first in romanised Chinese, if what follows is made of Chinese syllables.
const CHINESE: &str = " wang li zhang liu chen yang zhao huang zhou wu xu sun zhu ma hu guo lin he gao liang zheng luo song xie tang han feng \
deng cao peng zeng xiao tian dong pan yuan cai jiang yu du ye cheng wei su lu ding ren lu yao shen zhong cui tan lu fan wang liao shi jin jia \
xia fu fang zou xiong bai meng qin qiu hou mao xi hua ouyang sima zhuge shangguan ";

/// Surnames that stand first in romanised Korean, if what follows is made of Korean syllables.
const KOREAN: &str = " kim lee rhee yi park pak choi choe jung jeong chung kang cho jo yoon yun jang chang lim im han oh seo suh shin kwon \
hwang ahn an ban roh noh song ryu yoo yu hong moon mun bae baek paik nam ";

const KOREAN_SYLLABLES: &str = " ah bae beom bin bo bok bum chan cheol chol chul dae do dong duk eon eun ga gap geon geun gi gon gu guk gun gyeong ha \
hae han hee heon heung ho hong hoon hui hun hwa hwan hwi hye hyeok hyeon hyo hyuk hyun hyung il im in jae je jeong ji jin jo jong joo joon ju \
jun jung kee keun ki kon kook kuk kun kwan kwang kyeong kyong kyu kyun kyung mi min mo mok moo moon myeong myong myung na nam oh ok rae rak ran ri rim \
ryong sang se seok seon seong seop seul seung shik shin si sik sil so sol soo sook su sub suk sun sung tae taek ui uk un wan weon won woo woong \
yang ye yeol yeon yeong yi yo yol yon yong yoo yoon you young yu yul yun yung ";

/// Surnames that stand first in Vietnamese.
const VIETNAMESE: &str = " nguyen tran pham huynh hoang phan vu dang bui ngo duong truong ";

/// Surnames that stand first in other romanisations, if a word of two syllables with a hyphen follows.
const BEFORE_HYPHEN: &str =
    " chiang wong chan cheung leung lam tsai tsang hsu kwok tse chow ng lau chiu ";

/// Rulers, in front of one word, or of a name with a number: King Charles III, Papst Benedikt XVI.
const RULERS: &str = " king queen prince princess pope papst papa pape roi reine rey reina re regina emperor empress tsar zar sultan ";

/// Rulers that are surnames as well, in front of a name with a number.
const RULERS_BY_NUMBER: &str = " koenig koenigin kaiser kaiserin ";

/// Before the name that a person was born with.
const BORN: &str = " geb geborene geborener born nee ne nata nato rozena ";

/// Legal forms of companies.
const LEGAL_FORMS: &str = " gmbh ggmbh mbh kgaa ohg gbr ltd inc llc llp plc corp sarl sasu eurl srl srls slu sau limited incorporated gesellschaft \
corporation aktiengesellschaft stiftung verein ";

/// Those that are words as well, unless they are written in capitals among others that are not, or with full stops.
const SHORT_LEGAL_FORMS: &str = " ag kg ug ev ek eg se sa sl spa sas snc bv nv oy ab pty ";

/// Longest word of the lists.
const LONGEST: usize = 16;

fn has(list: &str, key: &str) -> bool {
    (1..=LONGEST).contains(&key.len()) && list.split(' ').any(|word| word == key)
}

/// In front of a name, whatever follows.
pub(super) fn is_title(key: &str) -> bool {
    has(TITLES, key)
}

/// Behind another title.
pub(super) fn is_of_title(key: &str) -> bool {
    has(OF_TITLES, key)
}

/// In front of a name of two words or more.
pub(super) fn is_first_title(key: &str) -> bool {
    has(ONLY_FIRST, key) || has(NOBLE_FIRST, key)
}

/// German nobility, in front of a surname.
pub(super) fn is_noble(key: &str) -> bool {
    has(NOBLE, key)
}

/// Behind a name. `written` is the word as it stands.
pub(super) fn is_suffix(key: &str, written: &str) -> bool {
    let in_capitals = || written.contains('.') || !written.chars().any(char::is_lowercase);
    has(SUFFIXES, key) && (!has(CAPITAL_SUFFIXES, key) || in_capitals())
}

pub(super) fn is_particle(key: &str) -> bool {
    has(PARTICLES, key)
}

/// A particle before a hyphen.
pub(super) fn is_joined_particle(key: &str) -> bool {
    has(JOINED_PARTICLES, key)
}

pub(super) fn is_spanish_surname(key: &str) -> bool {
    has(SPANISH, key)
}

/// Whether a Spanish surname is a given name, too, so that it can stand before any surname.
pub(super) fn is_given_name_too(key: &str) -> bool {
    has(GIVEN_TOO, key)
}

pub(super) fn is_chinese_surname(key: &str) -> bool {
    has(CHINESE, key)
}

pub(super) fn is_korean_surname(key: &str) -> bool {
    has(KOREAN, key)
}

pub(super) fn is_korean_syllable(key: &str) -> bool {
    has(KOREAN_SYLLABLES, key)
}

pub(super) fn is_vietnamese_surname(key: &str) -> bool {
    has(VIETNAMESE, key)
}

/// In front of another syllable behind a hyphen.
pub(super) fn is_surname_before_hyphen(key: &str) -> bool {
    has(BEFORE_HYPHEN, key)
}

/// A ruler; `number` says that a Roman number follows the name.
pub(super) fn is_ruler(key: &str, number: bool) -> bool {
    has(RULERS, key) || number && has(RULERS_BY_NUMBER, key)
}

/// Before the name at birth. Those that are names, too, are written small.
pub(super) fn is_born(key: &str, written: &str) -> bool {
    let small = !written.chars().any(char::is_uppercase);
    has(BORN, key)
        && (small || key == "geb" && written.ends_with('.') || key.starts_with("geborene"))
        && (key != "ne" || written == "né")
}

/// A legal form of a company. `written` is the word as it stands, `capitals` says that all of the text is in capitals.
pub(super) fn is_legal_form(key: &str, written: &str, capitals: bool) -> bool {
    let plain = |c: char| c == '.' && written.chars().filter(|&c| c == '.').count() > 1;
    let short = written.chars().any(plain) || !capitals && !written.chars().any(char::is_lowercase);
    has(LEGAL_FORMS, key) || has(SHORT_LEGAL_FORMS, key) && short || key == "ev" && written == "eV"
}
