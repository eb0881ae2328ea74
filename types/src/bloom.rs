//! The type `bloom` as argument and as result.

use base::Result;
use signature::filter::{Builder, Shape, View};

use super::value::value_type;
use pg::error::OrRaise;
use pg::values::varlena::build;

value_type!(Bloom, NewBloom, View, "bloom");

impl NewBloom {
    /// An empty signature of `shape`, with what `fill` puts in.
    pub fn new(shape: Shape, fill: impl FnOnce(&mut Builder<'_>) -> Result<()>) -> NewBloom {
        NewBloom::try_new(shape, fill).or_raise()
    }

    /// [`NewBloom::new`] for callers that handle the error.
    pub fn try_new(
        shape: Shape,
        fill: impl FnOnce(&mut Builder<'_>) -> Result<()>,
    ) -> Result<NewBloom> {
        build(Builder::size(shape), |bytes| {
            let mut builder = Builder::new(shape, bytes);
            fill(&mut builder)?;
            builder.finish();
            Ok(())
        })
        .map(NewBloom)
    }

    /// A copy of `view`, changed by `change`.
    pub fn changed(
        view: &View<'_>,
        change: impl FnOnce(&mut Builder<'_>) -> Result<()>,
    ) -> NewBloom {
        build(view.bytes().len(), |bytes| {
            let mut builder = Builder::from_view(view, bytes);
            change(&mut builder)?;
            builder.finish();
            Ok(())
        })
        .map(NewBloom)
        .or_raise()
    }
}
