//! Long loops give their caller a turn, so that it can look for interrupts.

/// Steps between two turns: a millisecond at the most, where a step waits for memory several times.
const STEPS: u32 = 1 << 10;

/// Counts the steps of a loop and calls back now and then.
pub struct Ticker<F> {
    left: u32,
    turn: F,
}

impl<F: FnMut()> Ticker<F> {
    /// `turn` is called once in a thousand steps.
    pub fn new(turn: F) -> Self {
        Ticker { left: STEPS, turn }
    }

    /// A turn at once, behind something that takes as long as many steps.
    pub fn turn(&mut self) {
        self.left = STEPS;
        (self.turn)();
    }

    /// One step of the loop.
    #[inline]
    pub fn step(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.turn();
        }
    }
}
