//! What two lists have in common, in their order.

/// Longer lists are not compared element by element, but for what they begin and end with.
const MOST_CELLS: usize = 1 << 16;

/// The longest common subsequence, as pairs of places.
pub(super) fn longest<T>(a: &[T], b: &[T], equal: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let begin = a.iter().zip(b).take_while(|(x, y)| equal(x, y)).count();
    let (x, y) = (&a[begin..], &b[begin..]);
    let end = x
        .iter()
        .rev()
        .zip(y.iter().rev())
        .take_while(|(x, y)| equal(x, y))
        .count();
    let (x, y) = (&x[..x.len() - end], &y[..y.len() - end]);
    let mut common: Vec<(usize, usize)> = (0..begin).map(|i| (i, i)).collect();
    let width = y.len() + 1;
    if (x.len() + 1) * width <= MOST_CELLS {
        let mut best = vec![0u16; (x.len() + 1) * width];
        for i in (0..x.len()).rev() {
            for j in (0..y.len()).rev() {
                best[i * width + j] = match equal(&x[i], &y[j]) {
                    true => 1 + best[(i + 1) * width + j + 1],
                    false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < x.len() && j < y.len() {
            if equal(&x[i], &y[j]) {
                common.push((begin + i, begin + j));
                (i, j) = (i + 1, j + 1);
            } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    let (from_a, from_b) = (a.len() - end, b.len() - end);
    common.extend((0..end).map(|i| (from_a + i, from_b + i)));
    common
}
