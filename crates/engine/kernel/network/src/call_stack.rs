//! Call stack: memory for calls into the path, since the kernel's stack has 32 KiB.

use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::stack::DefaultStack;

/// Size of the stack, which is enough for reading any scenario.
const SIZE: usize = 4 << 20;

/// A stack in addition to that of the caller.
pub(crate) struct OwnStack(DefaultStack);

impl OwnStack {
    pub(crate) fn new() -> std::io::Result<Self> {
        DefaultStack::new(SIZE).map(Self)
    }

    /// Runs `work` and returns its outcome; `None` if it panics, since a panic must not unwind the kernel's frames.
    pub(crate) fn run<T>(&mut self, work: impl FnOnce() -> T) -> Option<T> {
        corosensei::on_stack(&mut self.0, || catch_unwind(AssertUnwindSafe(work)).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::OwnStack;

    #[test]
    fn deep_work_fits_and_a_panic_stays_inside() {
        fn deep(levels: u32) -> u64 {
            let frame = std::hint::black_box([u64::from(levels); 64]);
            if levels == 0 {
                return frame[0];
            }
            deep(levels - 1) + frame[63] - u64::from(levels) + 1
        }
        let mut stack = OwnStack::new().unwrap();
        assert_eq!(stack.run(|| deep(2_000)), Some(2_000));
        assert_eq!(stack.run(|| -> u32 { panic!("inside") }), None);
        assert_eq!(stack.run(|| 7), Some(7));
    }
}
