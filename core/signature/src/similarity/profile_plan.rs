//! Which attributes of weighted profiles are searched, and for which similarity.

use super::profile_bounds::ProfileRule;
use base::Result;

/// All sets of so many attributes are tried.
const MOST: usize = 10;

/// Nobody searches for less than this, unless the threshold is less: nearly all pairs would be found.
const LEAST: f64 = 0.3;

/// What searches are expected to cost, in any unit.
pub trait SearchCosts {
    /// Searches of attributes, each for its similarity.
    fn of(&self, searches: &[(usize, f64)]) -> f64;
}

/// The searches by which all wanted pairs of profiles are found.
#[derive(Clone, Debug)]
pub struct ProfilePlan {
    rule: ProfileRule,
    /// Attributes, in their order, and the similarity that each is searched for.
    searched: Vec<(usize, f64)>,
}

impl ProfilePlan {
    /// The plan of least cost.
    pub fn new(rule: ProfileRule, costs: &impl SearchCosts) -> ProfilePlan {
        let weights = rule.weights();
        let mut attributes: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        // The dearest first: these get the greatest bounds, or are left out.
        let threshold = rule.threshold();
        let cost: Vec<f64> = (0..weights.len())
            .map(|i| costs.of(&[(i, threshold)]))
            .collect();
        attributes.sort_by(|&a, &b| cost[b].total_cmp(&cost[a]).then(a.cmp(&b)));
        let every = attributes.len();
        let choose = |left_out: usize| -> Vec<usize> {
            let kept = |(place, &attribute): (usize, &usize)| {
                (left_out >> place & 1 == 0).then_some(attribute)
            };
            attributes.iter().enumerate().filter_map(kept).collect()
        };
        let sets: Vec<Vec<usize>> = if every <= MOST {
            (0..(1 << every) - 1).map(choose).collect()
        } else {
            (0..every).map(|from| attributes[from..].to_vec()).collect()
        };
        let mut best: Option<(f64, Vec<(usize, f64)>)> = None;
        for (number, set) in sets.into_iter().enumerate() {
            let Some(bounds) = rule.bounds(&set) else {
                continue;
            };
            // The first set is that of all attributes, which always does.
            if number > 0 && bounds.iter().any(|&bound| bound < threshold.min(LEAST)) {
                continue;
            }
            let searches: Vec<(usize, f64)> = set.into_iter().zip(bounds).collect();
            let cost = costs.of(&searches);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, searches));
            }
        }
        let (_, mut searched) = best.expect("all attributes together can be searched");
        searched.sort_unstable_by_key(|&(attribute, _)| attribute);
        ProfilePlan { rule, searched }
    }

    /// What is searched, in the order of the attributes.
    pub fn searched(&self) -> &[(usize, f64)] {
        &self.searched
    }

    /// How many attributes a profile has.
    pub fn attributes(&self) -> usize {
        self.rule.weights().len()
    }

    /// The similarity of a pair that the search of an attribute has found, if it is wanted and no search before finds
    /// it, too: so each pair is taken once. `similarity` computes that of one attribute, `None` for what is missing on
    /// either side.
    ///
    /// Errors: those of `similarity`.
    pub fn take(
        &self,
        found_by: usize,
        mut similarity: impl FnMut(usize) -> Result<Option<f64>>,
    ) -> Result<Option<f64>> {
        let mut bounds = self.searched.iter().peekable();
        let mut similarities = Vec::with_capacity(self.attributes());
        for attribute in 0..self.attributes() {
            let this = similarity(attribute)?;
            let bound = bounds.next_if(|(searched, _)| *searched == attribute);
            let reaches = bound.is_some_and(|&(_, bound)| this.is_some_and(|this| this >= bound));
            if reaches && attribute < found_by {
                return Ok(None);
            }
            similarities.push(this);
        }
        self.rule.similarity(&similarities)
    }
}
