//! Long loops give their caller a turn, so that it can look for interrupts.

/// Steps between two turns: a millisecond at the most, where a step waits for memory several times.
const STEPS: u32 = 1 << 10;

pub(crate) struct Ticker<F> {
    left: u32,
    turn: F,
}

impl<F: FnMut()> Ticker<F> {
    pub(crate) fn new(turn: F) -> Self {
        Ticker { left: STEPS, turn }
    }

    /// A turn at once, behind something that takes as long as many steps.
    pub(crate) fn turn(&mut self) {
        self.left = STEPS;
        (self.turn)();
    }

    #[inline]
    pub(crate) fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.turn();
        }
    }
}
