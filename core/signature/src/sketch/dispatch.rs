//! The kernel that is chosen when the first is needed, by what the processor offers.

use std::sync::LazyLock;

use super::kernel::SketchKernel;
use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86;

static BEST: LazyLock<SketchKernel> =
    LazyLock::new(|| *kernels().last().expect("portable is always there"));

/// The kernels that run on this processor, the best last.
pub fn kernels() -> Vec<SketchKernel> {
    let mut kernels = vec![portable::kernel()];
    #[cfg(target_arch = "x86_64")]
    kernels.extend(x86::kernels());
    kernels
}

/// The best of them.
pub(super) fn best() -> SketchKernel {
    *BEST
}
