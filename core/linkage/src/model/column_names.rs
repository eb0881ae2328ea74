//! What columns are, as far as their names say.

use text::normalize;

/// Names of columns of dates, addresses and numbers in which the people of a household differ. Parts of names, without
/// signs between words.
const PERSONAL: &str =
    "birth dob geburt geboren gebdat naissance nacimiento nascita geboorte nascimento \
    urodzenia email emailaddress mailadresse correo courriel ssn socsec socialsecurity \
    passport reisepass personalid nationalid taxid steuerid dni";

/// The same, where they are the whole name, since others contain them.
const PERSONAL_WHOLE: &str = "mail born geb bdate naiss nacido";

/// Parts of names of surnames.
const SURNAMES: &str =
    "surname lastname familyname nachname familienname zuname apellido nomdefamille \
    cognome sobrenome achternaam nazwisko secondname";

/// Parts of names of given names, which are personal, too.
const GIVEN_WHOLE: &str = "given first nombre prenume nome";
const GIVEN: &str = "givenname firstname forename christianname vorname rufname prenom nombrepila \
    primeironome primernombre voornaam fornavn imie";

/// Parts of names of addresses within a town.
const ADDRESSES: &str =
    "address adresse addr street strasse road rue calle direccion indirizzo straat ulica";

/// Parts of names of towns, and of what stands for them.
const TOWNS: &str =
    "city town suburb postcode postalcode zipcode plz ville ciudad citta gemeinde wohnort";

/// The same, where they are the whole name.
const TOWNS_WHOLE: &str = "zip ort place";

/// Names of columns that say which record or group it is.
const RECORD: &str = "id key uuid guid cluster clusterid entityid recid recordid";

/// Words of names of columns that say when a record was entered or changed.
const ENTERED: &str = "created creation inserted entered updated modified changed imported loaded recorded angelegt erfasst \
    erstellt geaendert aktualisiert cree modifie creado modificado actualizado creato aggiornato";

/// The same, where names are written in one.
const ENTERED_WHOLE: &str =
    "createdat createdon creationdate insertedat updatedat updatedon modifiedat modifiedon \
    lastmodified lastupdate lastupdated lastchange";

/// Words of names of columns that mean the same, each line.
const SAME: [&str; 5] = [
    "birth birthdate birthday born dob geburt geburtsdatum geboren gebdat naissance nacimiento nascita nascimento urodzenia",
    "phone telephone telefon tel mobile fon telefono",
    "mail email correo courriel",
    "postcode postal postalcode zip zipcode plz",
    "city town ort suburb ville ciudad citta",
];

/// A column's name without signs and marks.
pub fn plain(name: &str) -> String {
    normalize(name, false, || ()).unwrap_or_default()
}

/// Whether a plain name is one of some words.
fn is_one_of(name: &str, words: &str) -> bool {
    words.split(' ').any(|word| name == word)
}

/// Whether a plain name has one of some words in it.
pub fn has_one_of(name: &str, words: &str) -> bool {
    words.split(' ').any(|word| name.contains(word))
}

/// Whether people of a household differ in it, as far as the name says.
pub fn is_named_personal(name: &str) -> bool {
    let plain = plain(name);
    is_one_of(&plain, PERSONAL_WHOLE) || has_one_of(&plain, PERSONAL) || is_given_name(name)
}

/// Whether it is a surname.
pub fn is_surname(name: &str) -> bool {
    has_one_of(&plain(name), SURNAMES)
}

/// Whether it is a given name.
pub fn is_given_name(name: &str) -> bool {
    let name = plain(name);
    is_one_of(&name, GIVEN_WHOLE) || has_one_of(&name, GIVEN)
}

/// Whether it is an address within a town.
pub fn is_address(name: &str) -> bool {
    has_one_of(&plain(name), ADDRESSES) && !is_named_personal(name)
}

/// Whether it is a town, or stands for one.
pub fn is_town(name: &str) -> bool {
    let name = plain(name);
    is_one_of(&name, TOWNS_WHOLE) || has_one_of(&name, TOWNS)
}

/// Whether it says which record it is, or which group of records.
pub fn is_record_number(name: &str) -> bool {
    let spaced = normalize(name, true, || ()).unwrap_or_default();
    let last_word = spaced.rsplit('_').next() == Some("id");
    !is_named_personal(name) && (last_word || is_one_of(&plain(name), RECORD))
}

/// Whether it says when a record was entered or changed, if it has dates.
pub fn says_when_entered(name: &str) -> bool {
    let spaced = normalize(name, true, || ()).unwrap_or_default();
    let mut words = spaced.split('_');
    words.any(|word| is_one_of(word, ENTERED)) || is_one_of(&plain(name), ENTERED_WHOLE)
}

/// Whether two columns may be the same by their names: `first_name` and `given_name`, `title` and `film_title`.
pub fn may_be_same(a: &str, b: &str) -> bool {
    let is = |a: bool, b: bool| a && b;
    let kinds = [is_given_name, is_surname];
    if kinds.iter().any(|of_kind| of_kind(a) || of_kind(b)) {
        return kinds.iter().any(|of_kind| is(of_kind(a), of_kind(b)));
    }
    let words = |name: &str| -> Vec<String> {
        let spaced = normalize(name, true, || ()).unwrap_or_default();
        spaced.split('_').map(str::to_owned).collect()
    };
    let is_same = plain(a) == plain(b);
    let (a, b) = (words(a), words(b));
    let has = |names: &[String], words: &str| names.iter().any(|name| is_one_of(name, words));
    if is_same || SAME.iter().any(|words| is(has(&a, words), has(&b, words))) {
        return true;
    }
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let begins = |a: &str, b: &str| a == b || b.len() >= LEAST_SHORT && a.starts_with(b);
    few.iter()
        .all(|a| many.iter().any(|b| begins(a, b) || begins(b, a)))
}

/// A word is short for others that begin with it if it has so many letters: `addr` for `address`.
const LEAST_SHORT: usize = 4;

#[cfg(test)]
mod tests {
    use super::may_be_same;

    #[test]
    fn names_of_columns_may_mean_the_same() {
        let same = [
            ("first_name", "given_name"),
            ("givenname", "Given Name"),
            ("surname", "last_name"),
            ("dob", "date_of_birth"),
            ("born", "birth_date"),
            ("title", "film_title"),
            ("addr", "address"),
            ("zip", "postcode"),
            ("phone", "tel_number"),
        ];
        let different = [
            ("name", "surname"),
            ("given_name", "surname"),
            ("first_name", "name"),
            ("title", "year"),
            ("city", "country"),
            ("hotel", "tel"),
            ("report", "ort"),
        ];
        assert!(same
            .iter()
            .all(|(a, b)| may_be_same(a, b) && may_be_same(b, a)));
        assert!(!different
            .iter()
            .any(|(a, b)| may_be_same(a, b) || may_be_same(b, a)));
    }
}
