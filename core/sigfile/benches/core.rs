//! Speed of what every row goes through. `cargo bench -p sigfile`

use std::hint::black_box;

use bitvec::view::BitView;
use signature::bits::kernels;
use signature::counting::{counters, CountingBuilder};
use signature::filter::{plan, plan_tokens, Builder, Shape, View};
use signature::sketch::{self, Signer, SketchShape};
use text::contact::{email, phone};
use text::identity::{for_each_encoding, IdentityKind};

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use text::tokens::for_each_word;

#[path = "../../signature/tests/packed/mod.rs"]
mod packed;
use packed::PackedSignatures;

/// Twenty characters, as names come.
const ASCII: &str = "Erika Mustermann-Hof";
const LATIN: &str = "Jörg Müller-Strauß d";
const CYRILLIC: &str = "Екатерина Кузнецова ";

const ROWS: usize = 1_000_000;

/// A multiplicative congruential generator is random enough to fill rows.
fn random_bytes(n: usize, mut state: u64) -> Vec<u8> {
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
        .collect()
}

fn texts(c: &mut Criterion) {
    let mut group = c.benchmark_group("text");
    for (name, text) in [("ascii", ASCII), ("latin", LATIN), ("cyrillic", CYRILLIC)] {
        assert_eq!(text.chars().count(), 20);
        group.bench_function(BenchmarkId::new("normalize", name), |b| {
            b.iter(|| text::normalize(black_box(text), false, || ()).unwrap());
        });
        let shape = plan(30, 3, 0.01).unwrap().shape;
        let mut bytes = vec![0; Builder::size(shape)];
        group.bench_function(BenchmarkId::new("signature", name), |b| {
            b.iter(|| {
                let mut builder = Builder::new(shape, black_box(&mut bytes));
                builder.add_text(black_box(text), false, || ()).unwrap();
                builder.finish().popcount()
            });
        });
    }
    group.finish();
}

/// The codes of five words.
fn sounds(c: &mut Criterion) {
    let mut group = c.benchmark_group("sound of 5 words");
    let text = "Katherine Schwarzenegger Müller Thompson Kowalski";
    for name in [
        "cologne",
        "soundex",
        "metaphone",
        "double_metaphone",
        "daitch_mokotoff",
        "nysiis",
        "caverphone",
        "beider_morse",
    ] {
        let sound = name.parse().unwrap();
        group.throughput(Throughput::Elements(5));
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut n = 0;
                let count = |code: &str| {
                    n += code.len();
                    Ok(())
                };
                text::for_each_sound(black_box(text), sound, count, || ()).unwrap();
                n
            });
        });
    }
    group.finish();
}

/// One form of a telephone number and of an e-mail address, and its encodings.
fn contacts(c: &mut Criterion) {
    let mut group = c.benchmark_group("contact");
    group.bench_function("phone", |b| {
        b.iter(|| phone(black_box("040/422838-4625"), black_box("DE")).unwrap());
    });
    for (name, address) in [
        ("plain", "erika.mustermann@example.org"),
        (
            "folded",
            "\"Mustermann, Erika\" <Erika.Mustermann+shop@googlemail.com>",
        ),
        ("idn", "käthe@müller-lüdenscheidt.de"),
    ] {
        group.bench_function(BenchmarkId::new("email", name), |b| {
            b.iter(|| email(black_box(address)).unwrap());
        });
        group.bench_function(BenchmarkId::new("email_parts", name), |b| {
            b.iter(|| email(black_box(address)).unwrap().parts());
        });
        let shape = plan_tokens(256, 0.5).unwrap().shape;
        let mut bytes = vec![0; Builder::size(shape)];
        group.bench_function(BenchmarkId::new("identity", name), |b| {
            b.iter(|| {
                let mut builder = Builder::new(shape, black_box(&mut bytes));
                let add = |token: &str| builder.add_token(token);
                for_each_encoding(IdentityKind::Email, black_box(address), || (), add).unwrap();
                builder.finish().popcount()
            });
        });
    }
    group.finish();
}

/// A message of twenty words: its tokens, and the signature of these.
fn tokens(c: &mut Criterion) {
    let mut group = c.benchmark_group("tokens");
    let text = "Let's take over the world: free entry in two weekly draws to win a prize, just text the word now!";
    let mut words = vec![];
    for_each_word(
        text,
        || (),
        |word| {
            words.push(word.to_owned());
            Ok(())
        },
    )
    .unwrap();
    words.truncate(20);
    assert_eq!(words.len(), 20);
    group.throughput(Throughput::Elements(1));
    group.bench_function("words", |b| {
        b.iter(|| {
            let mut n = 0;
            let count = |word: &str| {
                n += black_box(word).len();
                Ok(())
            };
            for_each_word(black_box(text), || (), count).unwrap();
            n
        });
    });
    let shape = plan_tokens(32, 0.01).unwrap().shape;
    let mut bytes = vec![0; Builder::size(shape)];
    group.bench_function("signature", |b| {
        b.iter(|| {
            let mut builder = Builder::new(shape, black_box(&mut bytes));
            let add = |word: &String| builder.add_token(black_box(word)).unwrap();
            words.iter().for_each(add);
            builder.finish().popcount()
        });
    });
    group.finish();
}

fn pairs(c: &mut Criterion) {
    let mut group = c.benchmark_group("similarity");
    for bits in [301usize, 1024, 2048] {
        let (a, b) = (
            random_bytes(bits.div_ceil(8), 1),
            random_bytes(bits.div_ceil(8), 2),
        );
        for kernel in kernels() {
            group.bench_function(BenchmarkId::new(kernel.name, bits), |bench| {
                bench.iter(|| kernel.intersect(black_box(&a), black_box(&b)));
            });
        }
    }
    // what a caller pays: shapes compared, kernel looked up, quotient formed
    let shape = Shape::new(7, 43, 3).unwrap();
    let build = |text| {
        let mut bytes = vec![0; Builder::size(shape)];
        let mut builder = Builder::new(shape, &mut bytes);
        builder.add_text(text, false, || ()).unwrap();
        builder.finish();
        bytes
    };
    let (a, b) = (build("erika mustermann"), build("erica mustermann"));
    group.bench_function("jaccard of views/301", |bench| {
        bench.iter(|| {
            let (a, b) = (View::stored(black_box(&a)), View::stored(black_box(&b)));
            signature::similarity::Popcounts::new(&a.unwrap(), &b.unwrap())
                .unwrap()
                .jaccard()
        });
    });
    group.finish();
}

fn scans(c: &mut Criterion) {
    let mut group = c.benchmark_group("packed scan of 1M");
    group.sample_size(20);
    for bits in [301usize, 1024] {
        let mut packed = PackedSignatures::new(bits as u32);
        let bytes = bits.div_ceil(8);
        let mut noise = random_bytes(ROWS * bytes, 3);
        for row in noise.chunks_exact_mut(bytes) {
            if bits % 8 > 0 {
                row[bytes - 1] &= 0xff >> (8 - bits % 8);
            }
            packed.push(row);
        }
        let query = noise[..bytes].to_vec();
        group.throughput(Throughput::Bytes(8 * packed.words.len() as u64));
        // the floor: the same bytes, read and nothing else
        group.bench_function(BenchmarkId::new("read", bits), |b| {
            b.iter(|| packed.words.iter().fold(0u64, |x, &w| x.wrapping_add(w)));
        });
        for kernel in kernels() {
            group.bench_function(BenchmarkId::new(kernel.name, bits), |b| {
                b.iter(|| {
                    let mut hits = 0;
                    packed.search(&kernel, black_box(&query), 0.8, |_, _| hits += 1);
                    hits
                });
            });
        }
    }
    group.finish();
}

/// The counters of a counting filter by bitvec, to compare with those by hand.
mod by_bitvec {
    use bitvec::prelude::*;

    pub fn increment(counters: &mut BitSlice<u8, Lsb0>, at: u32) {
        let counter = &mut counters[4 * at as usize..][..4];
        let value: u8 = counter.load_le();
        if value < 15 {
            counter.store_le(value + 1);
        }
    }

    pub fn decrement(counters: &mut BitSlice<u8, Lsb0>, at: u32) -> bool {
        let counter = &mut counters[4 * at as usize..][..4];
        let value: u8 = counter.load_le();
        if (1..15).contains(&value) {
            counter.store_le(value - 1);
        }
        value > 0
    }

    pub fn merge(to: &mut BitSlice<u8, Lsb0>, from: &BitSlice<u8, Lsb0>) {
        for (to, from) in to.chunks_exact_mut(4).zip(from.chunks_exact(4)) {
            let sum = to.load_le::<u8>() + from.load_le::<u8>();
            to.store_le(sum.min(15));
        }
    }

    pub fn full(counters: &BitSlice<u8, Lsb0>) -> usize {
        counters
            .chunks_exact(4)
            .filter(|counter| counter.all())
            .count()
    }

    pub fn to_bits(counters: &BitSlice<u8, Lsb0>, bits: &mut BitSlice<u8, Lsb0>) {
        for (at, counter) in counters.chunks_exact(4).enumerate() {
            bits.set(at, counter.any());
        }
    }
}

fn counting(c: &mut Criterion) {
    let mut group = c.benchmark_group("counting");
    let shape = Shape::new(7, 43, 3).unwrap();
    let mut filter = vec![0; CountingBuilder::size(shape)];
    CountingBuilder::new(shape, &mut filter).finish();
    group.bench_function("add and remove a text/301", |b| {
        b.iter(|| {
            let mut builder = CountingBuilder::in_place(black_box(&mut filter)).unwrap();
            builder.add_text(black_box(ASCII), false, || ()).unwrap();
            builder.remove_text(black_box(ASCII), false, || ()).unwrap();
        });
    });
    // as many counters as a list of a thousand n-grams has, and the positions of twenty of these
    const COUNTERS: u32 = 9_592;
    let random = random_bytes(2 * 7 * 20, 5);
    let at = |pair: &[u8]| u32::from(u16::from_le_bytes([pair[0], pair[1]])) % COUNTERS;
    let positions: Vec<u32> = random.chunks_exact(2).map(at).collect();
    let mut one = random_bytes(COUNTERS as usize / 2, 6);
    let other = random_bytes(COUNTERS as usize / 2, 7);
    let mut bits = vec![0; COUNTERS as usize / 8];
    group.bench_function("count up and down/by hand", |b| {
        b.iter(|| {
            positions
                .iter()
                .for_each(|&at| counters::increment(black_box(&mut one), at));
            positions
                .iter()
                .all(|&at| counters::decrement(black_box(&mut one), at))
        });
    });
    group.bench_function("count up and down/bitvec", |b| {
        let one = one.view_bits_mut();
        b.iter(|| {
            positions
                .iter()
                .for_each(|&at| by_bitvec::increment(black_box(&mut *one), at));
            positions
                .iter()
                .all(|&at| by_bitvec::decrement(black_box(&mut *one), at))
        });
    });
    group.bench_function("merge/by hand", |b| {
        b.iter(|| counters::merge(black_box(&mut one), black_box(&other)));
    });
    group.bench_function("merge/bitvec", |b| {
        let (one, other) = (one.view_bits_mut(), other.view_bits());
        b.iter(|| by_bitvec::merge(black_box(&mut *one), black_box(other)));
    });
    group.bench_function("full/by hand", |b| {
        b.iter(|| counters::full(black_box(&other)));
    });
    group.bench_function("full/bitvec", |b| {
        b.iter(|| by_bitvec::full(black_box(other.view_bits())));
    });
    group.bench_function("to bits/by hand", |b| {
        b.iter(|| counters::to_bits(black_box(&other), black_box(&mut bits)));
    });
    group.bench_function("to bits/bitvec", |b| {
        let bits = bits.view_bits_mut();
        b.iter(|| by_bitvec::to_bits(black_box(other.view_bits()), black_box(&mut *bits)));
    });
    group.finish();
}

/// A message of twenty words, signed by 128 minima.
fn messages(c: &mut Criterion) {
    let words: Vec<String> = random_bytes(20, 4)
        .iter()
        .map(|&byte| format!("{byte:x}{}", "word".repeat(1 + usize::from(byte) % 2)))
        .collect();
    let shape = SketchShape::new(128, 0).unwrap();
    let mut to = vec![0; sketch::HEADER + 128 / 8];
    let mut group = c.benchmark_group("minhash of 20 words, n = 128");
    group.throughput(Throughput::Elements(1));
    for kernel in sketch::kernels() {
        group.bench_function(kernel.name, |bench| {
            bench.iter(|| {
                let mut signer = Signer::with_kernel(shape, kernel);
                for word in black_box(&words) {
                    signer.add(word);
                }
                sketch::write_bits(&mut signer, black_box(&mut to));
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(std::time::Duration::from_millis(500)).measurement_time(std::time::Duration::from_secs(2)).without_plots();
    targets = texts, sounds, contacts, tokens, pairs, counting, scans, messages
}
criterion_main!(benches);
