//! A fuzzer for stable Rust: proptest mutates inputs of a kept corpus, and an input with a new outcome joins those that
//! are mutated.
//!
//! A target reads bytes and says what came of it: `Ok` with a class of answers, or `Err` with a message. Both, without
//! their numbers and quotations, tell outcomes apart; that takes the place of a measurement of coverage. A panic is a
//! failure: the input is made smaller, written to the corpus, and from then on read by every run.
//!
//! | variable | |
//! |---|---|
//! | `FUZZ_SECONDS` | how long each target is fuzzed behind its corpus; 1 if not told |
//! | `PROPTEST_RNG_SEED` | which inputs are made, in the same order each time; random ones if not told |
//! | `FUZZ_KEEP` | set: inputs with new outcomes are written to the corpus |

mod mutate;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// What a target makes of an input: the class of its answer, or the message of its error.
pub type Outcome = Result<String, String>;

/// A result whose error is its message.
pub fn message<T>(result: Result<T, impl std::fmt::Display>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

/// Cases between looks at the clock.
const CASES: u32 = 200;

/// Fuzzes `target`, beginning with `seeds` and the files of `corpus/NAME`. Panics when the target does, and when no
/// input is accepted or none refused: then nothing has been tested.
///
/// `refuses` says whether there are inputs that the target refuses.
pub fn fuzz(name: &str, refuses: bool, seeds: &[Vec<u8>], target: impl Fn(&[u8]) -> Outcome) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(name);
    let mut inputs = Inputs {
        outcomes: BTreeMap::new(),
        bytes: vec![],
    };
    for file in files(&corpus) {
        let bytes = fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        eprintln!("{name}: {}", file.display());
        inputs.add(bytes.clone(), &target(&bytes));
    }
    for seed in seeds {
        inputs.add(seed.clone(), &target(seed));
    }
    let known = inputs.bytes.len();
    let until = Instant::now() + seconds();
    let mut cases = 0;
    while Instant::now() < until {
        let found = RefCell::new(vec![]);
        let mut config = Config {
            cases: CASES,
            failure_persistence: None,
            ..Config::default()
        };
        if let RngSeed::Fixed(seed) = config.rng_seed {
            // else each run would make the inputs of the first one
            config.rng_seed = RngSeed::Fixed(seed.wrapping_add(cases.into()));
        }
        let strategy = mutate::inputs(&inputs.bytes);
        let run = TestRunner::new(config).run(&strategy, |bytes| {
            let outcome = target(&bytes);
            if !inputs.outcomes.contains_key(&class(&outcome)) {
                found.borrow_mut().push((bytes, outcome));
            }
            Ok::<(), TestCaseError>(())
        });
        if let Err(TestError::Fail(reason, bytes)) = run {
            let file = keep(&corpus, &bytes);
            panic!("{name}: {reason}; the input is kept: {}", file.display());
        }
        for (bytes, outcome) in found.into_inner() {
            inputs.add(bytes, &outcome);
        }
        cases += CASES;
    }
    if std::env::var_os("FUZZ_KEEP").is_some() {
        inputs.bytes[known..].iter().for_each(|bytes| {
            keep(&corpus, bytes);
        });
    }
    eprintln!("{name}: {cases} cases, {} outcomes", inputs.outcomes.len());
    let accepted = inputs
        .outcomes
        .keys()
        .filter(|outcome| outcome.is_ok())
        .count();
    assert!(accepted > 0, "{name}: no input is accepted");
    assert!(
        accepted < inputs.outcomes.len() || !refuses,
        "{name}: no input is refused"
    );
}

struct Inputs {
    /// How many inputs had an outcome of each class.
    outcomes: BTreeMap<Outcome, usize>,
    bytes: Vec<Vec<u8>>,
}

impl Inputs {
    /// The first input of a class is one to mutate.
    fn add(&mut self, bytes: Vec<u8>, outcome: &Outcome) {
        let seen = self.outcomes.entry(class(outcome)).or_default();
        if *seen == 0 {
            self.bytes.push(bytes);
        }
        *seen += 1;
    }
}

/// An outcome without what only this input has: of its text the words before and behind quotations, without numbers.
fn class(outcome: &Outcome) -> Outcome {
    let words = |text: &String| {
        let (before, rest) = text.split_once('"').unwrap_or((text, ""));
        let behind = rest.rsplit('"').next().unwrap_or("");
        let all = before.split_whitespace().chain(behind.split_whitespace());
        let plain = all.filter(|word| {
            let word = word.trim_matches([',', '.', ':', ';']);
            word.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
        plain.take(12).collect::<Vec<_>>().join(" ")
    };
    outcome.as_ref().map(words).map_err(words)
}

fn seconds() -> Duration {
    let told = std::env::var("FUZZ_SECONDS").ok();
    let seconds = told.map(|s| {
        s.parse()
            .unwrap_or_else(|_| panic!("FUZZ_SECONDS is a number, not {s:?}"))
    });
    Duration::from_secs_f64(seconds.unwrap_or(1.0))
}

/// The files of a folder, sorted; none if there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Writes an input to the corpus, named by its content.
fn keep(corpus: &Path, bytes: &[u8]) -> PathBuf {
    // FNV-1a
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let file = corpus.join(format!("{hash:016x}"));
    let written = fs::create_dir_all(corpus).and_then(|()| fs::write(&file, bytes));
    written.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    file
}
