//! Enums whose values have names, as SQL and JSON write them.

/// Declares an enum with a name for each value. It gets `ALL`, which has all of them in their order, `name()`, and
/// `named()`, which finds the value of a name.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$doc:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        pub enum $type { $($(#[$doc])* $value,)+ }

        impl $type {
            /// All of them.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// As SQL and JSON write it.
            pub fn name(self) -> &'static str {
                match self { $($type::$value => $name,)+ }
            }

            /// The value of this name, if there is one.
            pub fn named(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}
