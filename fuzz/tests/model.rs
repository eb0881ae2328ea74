//! What reads match models and records of them.

use bloom_ident_fuzz::fuzz;
use linkage::model::json::{read_any_model, read_model, write_model, write_things, AnyModel};
use linkage::model::keys::RecordKeys;
use linkage::model::things::{MaskShares, Odds, RecordMasks, ThingFacts};
use linkage::model::values::EQUAL;
use linkage::model::{Pattern, PlannedSearch, ReadyModel, Scorer, Search};

/// A model of two fields, with everything that a model can have.
fn model() -> String {
    of_kind("name", "")
}

/// The same with fields of a kind that are read like this.
fn of_kind(kind: &str, reading: &str) -> String {
    let m = "[0.3,0.15,0.1,0.05,0.1,0.07,0.05,0.04,0.02,0.02,0.01,0.1]";
    let u = "[1e-4,4e-4,0.001,0.002,0.0015,0.002,0.003,0.01,0.08,0.76,1e-5,0.14]";
    let field = |name: &str| {
        format!(
            "{{\"name\":\"{name}\",\"kind\":\"{kind}\",{reading}\"segment\":11,\"personal\":true,\"filled\":1,\"bits\":9.5,\
             \"m\":{m},\"u\":{u},\"rare_level\":1,\"frequent\":{{\"anna\":0.01}}}}"
        )
    };
    let row = "[0,0,0,0,0,0,0,0,0,0.5]";
    format!(
        "{{\"bloom_ident_model\":1,\"rules\":1,\"status\":\"converged\",\"linkage\":false,\"records\":900,\"pairs\":404550,\
         \"matches_per_record\":0.2,\"rounds\":9,\"fields\":[{},{}],\"swap\":[\"a\",\"b\"],\
         \"together\":[{{\"fields\":[\"b\",\"a\"],\"information\":0.1,\"logs\":[{}]}}],\
         \"classes\":[{{\"differ\":[\"a\"],\"pairs_per_record\":0.5,\"levels\":{{\"b\":{m}}}}}],\
         \"searches\":[{{\"equal\":[\"a\"],\"most\":40,\"pairs_per_record\":1,\"matches_per_record\":0.1,\"recall\":0.5}},\
         {{\"scan\":30,\"pairs_per_record\":1,\"matches_per_record\":0.1,\"recall\":0.9}}],\"left_out\":{{\"id\":\"it is the key\"}}}}",
        field("a"),
        field("b"),
        [row; 10].join(",")
    )
}

/// An error's message, and its detail up to what that quotes.
fn message<T>(result: base::Result<T>) -> Result<T, String> {
    result.map_err(|error| {
        let detail = error.detail_text().unwrap_or("").split('"').next();
        format!("{error} {}", detail.unwrap_or(""))
    })
}

#[test]
fn model_json() {
    let read = [
        ("name", "double_metaphone"),
        ("phone", "DE"),
        ("email", "mailbox"),
        ("date", "DD.MM.YYYY"),
    ];
    let read =
        read.map(|(kind, name)| of_kind(kind, &format!("\"reading\":\"{name}\",")).into_bytes());
    let seeds: Vec<Vec<u8>> = [model().into_bytes()].into_iter().chain(read).collect();
    fuzz("model_json", true, &seeds, |bytes| {
        let model = message(read_model(&String::from_utf8_lossy(bytes)))?;
        let written = write_model(&model).expect("what is read can be written");
        let again = read_model(&written).expect("what is written can be read");
        assert_eq!(write_model(&again).as_deref(), Ok(&*written));
        let levels = model.levels();
        assert!(levels.iter().all(|level| level.bits.is_finite()));
        assert_eq!(model.class_facts().len(), model.classes.len());
        let explainer = ReadyModel::new(model);
        let model = explainer.model();
        let record = vec![Some("Anna 19900102".to_owned()); model.fields.len()];
        let pattern = explainer
            .pattern(&record, &record)
            .expect("there is memory");
        for pattern in [pattern, Pattern::default()] {
            let score = Scorer::new(model.clone(), model.records, model.all_pairs).score(pattern);
            assert!((0.0..=1.0).contains(&score.probability));
            let addends = explainer.explain(pattern, model.records, model.all_pairs);
            let sum: f64 = addends.iter().map(|addend| addend.bits).sum();
            assert!((sum - score.bits).abs() < 1e-6, "{sum} {}", score.bits);
        }
        Ok(model.status.name().to_owned())
    });
}

/// A model of things with two fields.
fn things() -> String {
    let shares = "[0.3,0.15,0.1,0.05,0.1,0.07,0.05,0.04,0.02,0.02,0.04,0.02,0.02,0.02]";
    let field = |name: &str, kind: &str| {
        format!(
            "{{\"name\":\"{name}\",\"kind\":\"{kind}\",\"segment\":11,\"words\":9,\"filled\":1,\"bits\":9.5,\
             \"m\":{shares},\"u\":{shares},\"missing\":[0.8,0.15,0.05]}}"
        )
    };
    let row = "[0,0,0,0,0,0,0,0,0,0.5,0,0,0,-0.5]";
    format!(
        "{{\"bloom_ident_model\":2,\"rules\":1,\"status\":\"converged\",\"linkage\":true,\"one_to_one\":\"both\",\"tables\":[300,600],\
         \"matched\":0.5,\"rounds\":9,\"fields\":[{},{}],\
         \"together\":[{{\"fields\":[\"b\",\"a\"],\"information\":0.1,\"logs\":[{}]}}],\
         \"missing\":{{\"matches\":150,\"by_fields\":0.9,\"masks\":[{{\"one\":[\"a\"],\"both\":[\"b\"],\"matches\":9}}]}},\
         \"left_out\":{{\"id\":\"it is the key\"}}}}",
        field("a", "words"),
        field("b", "number"),
        [row; 14].join(",")
    )
}

#[test]
fn things_json() {
    fuzz("things_json", true, &[things().into_bytes()], |bytes| {
        let model = message(read_any_model(&String::from_utf8_lossy(bytes)))?;
        let AnyModel::OfThings(model) = model else {
            return Ok("of pairs".to_owned());
        };
        let written = write_things(&model).expect("what is read can be written");
        let Ok(AnyModel::OfThings(again)) = read_any_model(&written) else {
            panic!("what is written can be read");
        };
        assert_eq!(write_things(&again).as_deref(), Ok(&*written));
        assert!(read_model(&written).is_err());
        let levels = model.levels();
        let mut bits = levels.iter().filter_map(ThingFacts::bits);
        assert!(bits.all(f64::is_finite));
        assert_eq!(model.class_facts()[0].class, 0);
        let mut lacking = RecordMasks::default();
        (0..4).for_each(|lacks| lacking.add(lacks));
        let masks = MaskShares::new(&lacking, &lacking, model.fields.len(), || ());
        let learned = model.learned(model.records, masks);
        let mut odds = Odds::new(&learned);
        for pattern in [
            Pattern::default(),
            Pattern(0xef),
            Pattern(u128::MAX),
            Pattern(0xdd),
        ] {
            assert!(odds.of(pattern).is_finite());
        }
        Ok(model.status.name().to_owned())
    });
}

/// Two records, a value each line, are compared the same way round and round, and have the same keys each time.
#[test]
fn model_record() {
    let kinds = [
        ("name", ""),
        ("date", ""),
        ("day", ""),
        ("email", ""),
        ("number", ""),
        ("phone", "\"read\":\"DE\","),
    ];
    let models = kinds.map(|(kind, reading)| {
        let mut model = read_model(&of_kind(kind, reading)).expect("a model");
        let similar = Search::Similar {
            fields: vec![0, 1],
            least: 40,
            most: 40,
        };
        let crosswise = Search::Crosswise {
            fields: Vec::new(),
            most: 40,
        };
        let searches = [similar, crosswise].map(|search| PlannedSearch {
            search,
            pairs_per_record: 1.0,
            matches_per_record: 0.1,
        });
        model.searches.extend(searches);
        ReadyModel::new(model)
    });
    let seeds = [
        "Anna\nBerger\nBerger\nAnna",
        "1990-01-02\n\n19900201\n030 1234567",
        "a.b@x.example\n-1e308\nA.B@y.example\n0",
    ];
    let seeds = seeds.map(|text| text.as_bytes().to_vec());
    fuzz("model_record", false, &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split('\n').map(Some).chain(std::iter::repeat(None));
        let mut record = || [(); 2].map(|()| lines.next().flatten());
        let (a, b) = (record(), record());
        for ready in &models {
            let model = ready.model();
            let of = RecordKeys::new(model, 0..model.searches.len());
            let keys = |record: &[Option<&str>]| {
                let mut keys = Vec::new();
                let found = ready.keys(&of, record, |search, key| keys.push((search, key)));
                message(found).map(|()| keys)
            };
            assert_eq!(keys(&a)?, keys(&a)?);
            let pattern = message(ready.pattern(&a, &b))?;
            assert_eq!(pattern, message(ready.pattern(&b, &a))?);
            // What has been seen before changes nothing.
            ready.forget_values();
            assert_eq!(pattern, message(ready.pattern(&a, &b))?);
            let [of_a, of_b] = [keys(&a)?, keys(&b)?];
            let is_equal = pattern.level(0) < EQUAL;
            assert!(!is_equal || of_a.iter().any(|key| of_b.contains(key)));
        }
        Ok(format!("values: {}", a.iter().chain(&b).flatten().count()))
    });
}
