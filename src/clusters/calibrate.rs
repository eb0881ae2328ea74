//! `bloom_model_calibrate`: a model whose probabilities are corrected by what people have said about some of its pairs.

use std::collections::btree_map::{BTreeMap, Entry};

use linkage::clusters::queue::{band, limits, share_out, ByBand, BANDS};
use linkage::clusters::Verdict;
use linkage::model::json::{read_model, write_model};
use linkage::model::{Answer, Calibration};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::pair_list::{refuse_one_key, PairReader};
use super::source::Source;
use crate::pairs::decisions::Decisions;
use crate::pairs::source_columns::has;
use base::error::number;
use base::range::counted;
use pg::check_for_interrupts;
use pg::entry;
use pg::error::{notice, raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::progress;
use pg::values::jsonb::jsonb_datum;
use pg::values::varlena::NewValue;

/// Of fewer answers nothing is learned.
const LEAST_ANSWERS: u64 = 20;

/// A probability of 1 stands for so many bits, and one of 0 for as many below 0.
const MOST_BITS: f64 = 40.0;

/// `(model jsonb, decisions regclass, pairs regclass) RETURNS jsonb`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_calibrate(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let mut model = read_model(&arguments.jsonb(0)).or_raise();
    let decided_in = arguments.oid(1);
    let found_in = arguments.datum(2).map_or(decided_in, |_| arguments.oid(2));
    if !has(found_in, &[c"probability"]) && !has(found_in, &[c"similarity"]) {
        refuse_without_pairs(found_in);
    }
    let found_in = Source::of_probable_pairs(found_in);
    let _job = progress::job("bloom_model_calibrate", found_in.oid);
    let decisions = Decisions::read(decided_in, None, false);
    // by the place of its decision, so that a pair that is there twice counts once
    let mut answers = BTreeMap::<usize, Answer>::new();
    let (mut by_band, mut waiting) = ([0; BANDS], [0; BANDS]);
    let cursor = found_in.similar_rows();
    let mut reader = PairReader::of(&cursor, &found_in);
    cursor.each(|row| {
        check_for_interrupts();
        let probability = reader.similarity(row);
        let [a, b] = reader.keys(row, <[u8]>::to_vec);
        if a == b {
            refuse_one_key(&a, &found_in.name);
        }
        let band = band(probability);
        let Some(place) = decisions.place([&a, &b]) else {
            band.iter().for_each(|&band| waiting[band] += 1);
            return;
        };
        let is_match = match decisions.at(place).verdict {
            Verdict::Same => true,
            Verdict::Different => false,
            Verdict::Unsure => return,
        };
        let bits = (probability / (1.0 - probability)).log2();
        let bits = bits.clamp(-MOST_BITS, MOST_BITS);
        // that of the model as it was fitted
        let bits = model.calibration.map_or(bits, |of| of.before(bits));
        let answer = Answer { bits, is_match };
        match answers.entry(place) {
            Entry::Vacant(new) => {
                new.insert(answer);
                band.iter().for_each(|&band| by_band[band] += 1);
            }
            // whichever row comes first
            Entry::Occupied(mut known) if bits > known.get().bits => *known.get_mut() = answer,
            Entry::Occupied(_) => (),
        }
    });
    let answers: Vec<Answer> = answers.into_values().collect();
    refuse_too_few(
        &answers,
        [by_band, waiting],
        &decisions.name,
        &found_in.name,
    );
    if model.calibration.is_some() {
        notice!(
            "the model was calibrated before, so the probabilities in \"{}\" are taken for those of the calibrated model",
            found_in.name
        );
    }
    model.calibration = Some(Calibration::learn(answers, check_for_interrupts));
    NewValue(jsonb_datum(&write_model(&model).or_raise()))
}

/// Errors: always.
fn refuse_without_pairs(oid: pg_sys::Oid) -> ! {
    let name = Source::of_linked_pairs(oid).name;
    let code = PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN;
    raise(
        &sql_error(
            code,
            format!("relation \"{name}\" has no column probability"),
        )
        .detail("An answer says something of the probability that the model gives to its pair.")
        .hint("Give the relation of the pairs that the model has found, with the columns a, b and probability, as the argument pairs."),
    )
}

/// Errors: fewer answers than are needed, or all of one kind.
/// `by_band` has the answers by bands of probability, and the pairs that have none.
fn refuse_too_few(answers: &[Answer], by_band: [ByBand; 2], decisions: &str, pairs: &str) {
    let [by_band, waiting] = by_band;
    let all = answers.len() as u64;
    let same = answers.iter().filter(|answer| answer.is_match).count() as u64;
    if all >= LEAST_ANSWERS && same > 0 && same < all {
        return;
    }
    let message = format!(
        "\"{decisions}\" has {} to pairs of \"{pairs}\", {same} same and {} different",
        counted(all, "answer", "answers"),
        all - same
    );
    let missing = share_out(LEAST_ANSWERS.saturating_sub(all), waiting, by_band);
    let missing = (0..BANDS).filter(|&band| missing[band] > 0).map(|band| {
        let [from, to] = limits(band).map(number);
        format!("{} from {from} to {to}", missing[band])
    });
    let missing: Vec<String> = missing.collect();
    let detail = match all {
        LEAST_ANSWERS.. => "All are of one kind, and a calibration needs both.".to_owned(),
        _ if missing.is_empty() => format!(
            "A calibration needs {LEAST_ANSWERS} of both kinds, and no other pairs of \"{pairs}\" from 0.1 to 0.999 wait for one."
        ),
        _ => format!(
            "A calibration needs {LEAST_ANSWERS} of both kinds, spread over the probabilities; wanted are {}.",
            missing.join(", ")
        ),
    };
    let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    raise(&sql_error(code, message).detail(detail).hint(
        "Decide pairs that bloom_review_queue() finds, or find more pairs by a lower threshold.",
    ));
}
