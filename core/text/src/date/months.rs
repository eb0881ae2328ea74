//! Names of months.

use crate::normalize::normalize;

/// In their normal form, of all languages: English, German, Spanish, French, Italian, Polish (nominative and genitive)
/// and Dutch. What begins one of them with three letters or more is an abbreviation of it; those that do not begin a
/// name stand beside it.
const MONTHS: [&str; 12] = [
    "january januar jaenner janner enero janvier gennaio styczen stycznia januari",
    "february februar feber febrero fevrier febbraio luty lutego februari",
    "march maerz mrz marzo mars marzec marca maart mrt",
    "april abril avril aprile kwiecien kwietnia",
    "may mai mayo maggio maj maja mei",
    "june juni junio juin giugno czerwiec czerwca",
    "july juli julio juillet luglio lipiec lipca",
    "august agosto aout sierpien sierpnia augustus",
    "september septiembre setiembre septembre settembre wrzesien wrzesnia",
    "october oktober octubre octobre ottobre pazdziernik pazdziernika",
    "november noviembre novembre listopad listopada",
    "december dezember diciembre decembre dicembre grudzien grudnia",
];

/// Bytes of a name, accents included; far more than any has.
pub(super) const LONGEST_NAME: usize = 64;

/// The month of a name, or of an abbreviation of three letters or more that stands for no other month: `jui` is June
/// and July.
pub(super) fn month(name: &str) -> Option<u32> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let name = normalize(name, false, || ()).ok()?;
    if name.len() < 3 {
        return None;
    }
    let begins = |names: &&str| names.split(' ').any(|full| full.starts_with(&name));
    let mut found = (1..).zip(&MONTHS).filter(|(_, names)| begins(names));
    let (month, _) = found.next()?;
    found.next().is_none().then_some(month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_french_summer_has_an_abbreviation_of_two_months() {
        let mut of_two = vec![];
        for full in MONTHS.iter().flat_map(|names| names.split(' ')) {
            for length in 3..=full.len() {
                if month(&full[..length]).is_none() {
                    of_two.push(&full[..length]);
                }
            }
        }
        assert_eq!(of_two, ["jui", "jui"]);
    }

    #[test]
    fn names_in_any_writing() {
        for (name, number) in [
            ("MÄRZ", 3),
            ("Ma\u{308}rz", 3),
            ("févr", 2),
            ("Paź", 10),
            ("września", 9),
            ("AGO", 8),
            ("mei", 5),
        ] {
            assert_eq!(month(name), Some(number), "{name}");
        }
        for name in ["", "ma", "Mayday", "jui", &"i".repeat(100)] {
            assert_eq!(month(name), None, "{name}");
        }
    }
}
