//! Long loops give their caller a turn, so that it can look for interrupts.

/// Steps between two turns: a fraction of a millisecond.
const STEPS: u32 = 1 << 15;

pub(crate) struct Ticker<F> {
    left: u32,
    turn: F,
}

impl<F: FnMut()> Ticker<F> {
    pub(crate) fn new(turn: F) -> Self {
        Ticker { left: STEPS, turn }
    }

    #[inline]
    pub(crate) fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.left = STEPS;
            (self.turn)();
        }
    }
}
