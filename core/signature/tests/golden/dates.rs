//! Signatures of dates.

use serde_json::Value;
use signature::filter::{date_shape, Builder};

use super::{golden, s};

#[test]
fn date_signatures() {
    for v in golden("date_signature") {
        let mut bytes = vec![0; Builder::size(date_shape())];
        let mut builder = Builder::new(date_shape(), &mut bytes);
        builder.add_date(s(&v, "date"), || ()).unwrap();
        let view = builder.finish();
        let set = |at: &u32| view.bits()[*at as usize / 8] >> (at % 8) & 1 == 1;
        let found: Vec<Value> = (0..307).filter(set).map(Value::from).collect();
        assert_eq!(Some(&found), v["bits"].as_array(), "{}", s(&v, "date"));
    }
}
