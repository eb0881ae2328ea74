//! What single words of an address are: by lists for German, English, Spanish, French, Italian
//! and Danish, and by their form.

use crate::letters::WordList;

/// Phrases of one meaning, with commas between them.
struct PhraseList(&'static str);

impl PhraseList {
    fn has(self, phrase: &str) -> bool {
        self.0.split(", ").any(|one| one == phrase)
    }
}

/// Kinds of streets that stand behind the name, as in English.
pub const ENGLISH: WordList = WordList("street st road rd avenue ave av lane ln drive dr boulevard blvd court ct place \
    pl square sq terrace ter close crescent cres \
     gardens gdns grove mews way highway hwy parkway pkwy circle cir trail trl turnpike expressway plaza alley walk \
     row hill mall broadway quay parade esplanade crossing");

/// Those of them behind which a city may follow without a comma or a number: the others are parts of names as often.
pub const PARTING: WordList = WordList(
    "street st road rd avenue ave lane ln drive dr boulevard blvd crescent terrace highway hwy parkway pkwy",
);

/// Kinds of streets that stand before the name, or by themselves.
const OTHERS: WordList = WordList("straße strasse str weg gasse platz allee ufer postfach calle c avenida avda paseo \
    carrera cra transversal diagonal autopista rang montée vej allé plads torv \
    plaza pza carrer camino carretera ctra ronda \
     rue boulevard bd chemin impasse quai allée allee cours route faubourg via viale corso piazza piazzale vicolo \
     largo strada lungomare contrada");

/// Endings of German and Danish names of streets.
const ENDINGS: [&str; 16] = [
    "straße", "strasse", "str", "weg", "gasse", "platz", "allee", "ufer", "damm", "chaussee",
    "gade", "vej", "allé", "plads", "stræde", "torv",
];

/// What is followed by the number or the letter of a flat, a floor, a door or a part of a building.
pub const UNITS: WordList = WordList("apt apartment appartment unit suite ste room rm flat studio floor fl bldg building \
    block # wohnung whg etage stock stiege top \
     piso puerta pta planta escalera esc portal bloque edificio apartamento appt app apt appartement étage etage \
     bâtiment bât bat escalier porte \
     appartamento interno int scala palazzina piano");

/// What stands behind the ordinal number of a floor.
pub const FLOORS: WordList = WordList("og stock etage étage floor fl piso planta piano sal");

/// Where a door is on a floor.
const SIDES: WordList = WordList(
    "izq izda izquierda dcha drcha derecha centro links rechts mitte gauche droite \
    tv th mf",
);

/// Danish sides, behind the number of a floor, st. or kl.: 2. tv., st. th.
pub const DANISH_SIDES: WordList = WordList("tv th mf");

/// Danish floors that have no number.
pub const DANISH_FLOORS: WordList = WordList("st kl");

/// What is followed by the number of a box.
pub const BOXES: WordList = WordList("box apartado casilla bp");

/// Roads of Colombia, which have numbers, and before the sign # the number of a house on another road.
pub const COLOMBIAN: WordList = WordList(
    "calle cl cll carrera cra cr kr kra avenida av ak ac diagonal dg diag transversal tr tv transv circular autopista",
);

/// Sides of a city in Colombia, behind the number of a house.
pub const SIDES_OF_CITY: WordList = WordList("sur norte este oeste");

/// What says that a number follows.
pub const NUMBERED: WordList = WordList("nr no nº n° n num núm número numero numéro hausnummer #");

/// What says that there is no number.
pub const UNNUMBERED: WordList = WordList("s/n s/nº sn snc s.n.c s.n");

pub const REPEATED: WordList = WordList("bis ter quater");

pub const DIRECTIONS: WordList = WordList("n s e w ne nw se sw");

const LONG_DIRECTIONS: WordList =
    WordList("north south east west northeast northwest southeast southwest");

/// Behind which the number of a road stands: Highway 59.
pub const NUMBERED_ROADS: WordList = WordList("highway hwy route rt rte");

const STATES: PhraseList = PhraseList(
    "alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, district of columbia, \
     florida, georgia, hawaii, idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, \
     massachusetts, michigan, minnesota, mississippi, missouri, montana, nebraska, nevada, new hampshire, new \
     jersey, new mexico, new york, north carolina, north dakota, ohio, oklahoma, oregon, pennsylvania, rhode \
     island, south carolina, south dakota, tennessee, texas, utah, vermont, virginia, washington, west virginia, \
     wisconsin, wyoming, alberta, british columbia, manitoba, new brunswick, newfoundland and labrador, northwest \
     territories, nova scotia, nunavut, ontario, prince edward island, quebec, québec, saskatchewan, yukon",
);

pub const MONTHS: WordList = WordList(
    "januar februar märz april mai juni juli august september oktober november dezember \
     january february march may june july october december \
     enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre \
     janvier février mars avril juin juillet août septembre octobre novembre décembre \
     gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre",
);

/// Countries, each with blanks between its words, in the languages that are read.
const COUNTRIES: PhraseList = PhraseList(
    "germany, deutschland, alemania, allemagne, germania, austria, österreich, autriche, switzerland, schweiz, \
     suisse, svizzera, suiza, united kingdom, uk, gb, great britain, england, scotland, wales, northern ireland, \
     vereinigtes königreich, reino unido, royaume-uni, regno unito, usa, us, u.s.a, u.s, united states, united \
     states of america, estados unidos, états-unis, stati uniti, spain, españa, espagne, spagna, spanien, france, \
     francia, frankreich, italy, italia, italie, italien, de, es, canada, kanada, canadá, colombia, kolumbien, \
     colombie, denmark, danmark, dänemark, danemark, dinamarca, danimarca, new zealand, nz, aotearoa, neuseeland, \
     nouvelle-zélande, nueva zelanda, nuova zelanda",
);

/// Departments of Colombia, which stand behind the city.
const DEPARTMENTS: PhraseList = PhraseList(
    "amazonas, antioquia, arauca, atlántico, atlantico, bolívar, bolivar, boyacá, boyaca, caldas, caquetá, caqueta, casanare, \
     cauca, cesar, chocó, choco, córdoba, cordoba, cundinamarca, guainía, guainia, guaviare, huila, la guajira, magdalena, \
     meta, nariño, narino, norte de santander, putumayo, quindío, quindio, risaralda, san andrés y providencia, \
     archipiélago de san andrés, santander, sucre, tolima, valle del cauca, vaupés, vaupes, vichada, distrito capital",
);

/// Counties of England, Scotland and Wales that do not end in "shire".
const COUNTIES: PhraseList = PhraseList(
    "essex, kent, surrey, suffolk, norfolk, cornwall, devon, dorset, somerset, east sussex, west sussex, sussex, \
     cumbria, merseyside, greater manchester, greater london, tyne and wear, west midlands, isle of wight, \
     rutland, county durham, middlesex, gwynedd, fife",
);

impl WordList {
    /// Whether it has a word of an address.
    pub fn has_written(self, word: &str) -> bool {
        self.has(&key(word))
    }
}

/// Lower case, without dots and colons at its end.
pub fn key(word: &str) -> String {
    word.trim_end_matches(['.', ':']).to_lowercase()
}

pub fn is_street(word: &str) -> bool {
    let key = key(word);
    ENGLISH.has(&key)
        || OTHERS.has(&key)
        || key.starts_with("c/")
        || ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// Whether words begin with a kind of street, as in French and Spanish.
pub fn begins_street(words: &[&str]) -> bool {
    words.first().is_some_and(|first| OTHERS.has_written(first))
}

pub fn is_side(word: &str) -> bool {
    SIDES.has_written(word) || word.chars().count() == 1
}

pub fn is_country(words: &[&str]) -> bool {
    // no country has more words than four
    words.len() <= 4 && COUNTRIES.has(&key(&words.join(" ")))
}

pub fn is_county(words: &[&str]) -> bool {
    let Some(last) = words.last().filter(|_| words.len() <= 3) else {
        return false;
    };
    let key = key(&words.join(" "));
    COUNTIES.has(&key) || last.to_lowercase().ends_with("shire")
}

/// A department of Colombia.
pub fn is_department(words: &[&str]) -> bool {
    words.len() <= 4 && DEPARTMENTS.has(&key(&words.join(" ")))
}

/// Two capitals, as states of the US and Italian provinces are written: NY, N.Y.
pub fn is_region(word: &str) -> bool {
    let mut letters = word.bytes().filter(|&b| b != b'.');
    let two = [letters.next(), letters.next(), letters.next()];
    word.len() <= 4 && matches!(two, [Some(b'A'..=b'Z'), Some(b'A'..=b'Z'), None])
}

/// A state of the US by its name.
pub fn is_state(words: &[&str]) -> bool {
    words.len() <= 3 && STATES.has(&key(&words.join(" ")))
}

/// A direction, written out or not.
pub fn is_any_direction(word: &str) -> bool {
    DIRECTIONS.has_written(word) || LONG_DIRECTIONS.has_written(word)
}

/// Digits and a sign behind them that makes an ordinal number: 3º, 2., 1er, 5th.
pub fn is_ordinal(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < word.len()
        && matches!(
            &*rest.to_lowercase(),
            "º" | "ª" | "°" | "." | "e" | "er" | "ème" | "th" | "st" | "nd" | "rd" | "o" | "a"
        )
}

pub fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// The number of a house: 12, 12a, 12-14, 12/3, 12bis, 12½.
pub fn is_number(word: &str) -> bool {
    let mut groups = word.split(['-', '/', '+', '–']);
    let first = groups.next().is_some_and(|first| {
        let rest = first.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = first.len() - rest.len();
        (1..=5).contains(&digits) && is_suffix(rest)
    });
    first
        && word.len() <= 24
        && groups.all(|group| {
            let rest = group.trim_start_matches(|c: char| c.is_ascii_digit());
            !group.is_empty() && group.len() - rest.len() <= 5 && is_suffix(rest)
        })
}

fn is_suffix(rest: &str) -> bool {
    rest.is_empty()
        || rest == "½"
        || REPEATED.has_written(rest)
        || rest.len() == 1 && rest.as_bytes()[0].is_ascii_alphabetic()
}
