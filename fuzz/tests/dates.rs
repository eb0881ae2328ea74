//! What reads dates and times.

use bloom_ident_fuzz::fuzz;

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// An error's message, and its detail up to what that quotes.
fn message<T>(result: base::Result<T>) -> Result<T, String> {
    result.map_err(|error| {
        let detail = error.detail_text().unwrap_or("").split('"').next();
        format!("{error}\" {}", detail.unwrap_or(""))
    })
}

/// Two texts, parted by the first line feed.
fn two(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let (a, b) = text.split_once('\n').unwrap_or((&text, ""));
    (a.to_owned(), b.to_owned())
}

#[test]
fn dates() {
    let dates = [
        "27.05.1964\nDD.MM.YYYY",
        "1964-02-29\nYYYY-MM-DD",
        "3 Mai 1964\nDD Month YYYY",
        "5/27/64\nMM/DD/YY",
        "\nYYYYMMDD",
        "31.02.2000\nDD.MM.YYYY",
        "1er févr. 64\nDDth Mon YY",
        "27. września 2001\nDD. Month YYYY",
        "１９６４年５月２７日\nYYYY\"年\"MM\"月\"DD\"日\"",
    ];
    fuzz("dates", true, &seeds(&dates), |bytes| {
        let (date, format) = two(bytes);
        let plausible = text::plausibility(&date, &format);
        let parsed = message(text::parse_date(&date, &format));
        if let Ok(mut several) = text::DateFormats::new(&format) {
            message(several.push("DD.MM.YYYY"))?;
            let (of_any, digits) = (
                several.date(&date, || ()),
                several.date_digits(&date, || ()),
            );
            assert!(digits.len() <= 8 && digits.bytes().all(|b| b.is_ascii_digit()));
            if let Ok(date) = &parsed {
                assert_eq!(of_any.as_ref(), Ok(date));
            }
            match several.date_if_any(&date, || ()) {
                Some(date) => assert_eq!((Ok(&date), &date), (of_any.as_ref(), &digits)),
                None => assert!(of_any.is_err() || date.trim().is_empty()),
            }
        }
        if let Ok(digits) = &parsed {
            assert!(
                (digits.len() == 8 || date.trim().is_empty() && digits.is_empty())
                    && digits.bytes().all(|b| b.is_ascii_digit()),
                "{digits}"
            );
            assert_eq!(
                message(text::parse_date(digits, "YYYYMMDD")).as_ref(),
                Ok(digits)
            );
        }
        let plausible = message(plausible)?;
        assert!(
            plausible.plausible == parsed.is_ok() || date.trim().is_empty(),
            "{date:?} {format:?} {plausible:?} {parsed:?}"
        );
        parsed.map(|_| format!("{:?}", plausible.part))
    });
}

#[test]
fn times() {
    let times = [
        "20:15\nHH24:MI",
        "8:15:07 pm\nHH:MI:SS AM",
        "20:15:07.25\nHH:MI:SS.FF",
        "25:00\nHHMI",
        "12 a.m.\nHH12 PM",
    ];
    fuzz("times", true, &seeds(&times), |bytes| {
        let (time, format) = two(bytes);
        let format = message(text::TimeFormats::new(&format))?;
        let parsed = message(format.time(&time, || ()));
        if let Ok(digits) = &parsed {
            assert!(digits.len() == 6 || time.trim().is_empty() && digits.is_empty());
            assert_eq!(
                message(text::parse_time(digits, "HH24MISS")).as_ref(),
                Ok(digits)
            );
        }
        let or_none = format.time_if_any(&time, || ());
        assert_eq!(or_none, parsed.clone().ok().filter(|d| !d.is_empty()));
        parsed.map(|_| "time".into())
    });
}

#[test]
fn digit_pairs() {
    let dates = [
        "19640527",
        "1964-05-00",
        "19640000",
        "640527",
        "20010203x",
        "27.05.1964",
    ];
    fuzz("digit_pairs", true, &seeds(&dates), |bytes| {
        let date = String::from_utf8_lossy(bytes);
        let mut pairs = 0;
        message(text::for_each_digit_pair(
            &date,
            || (),
            |pair| {
                assert!(pair.iter().all(u8::is_ascii_digit));
                pairs += 1;
            },
        ))?;
        match pairs {
            45 | 18 => Ok(format!("whole: {}", pairs == 45)),
            0 => Err("no date".into()),
            n => panic!("{n} pairs"),
        }
    });
}
