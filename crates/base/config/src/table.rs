//! Tables: structs whose fields are declared with their defaults, in one place.

/// Declares a table of a configuration: a struct that serde reads from files, whose absent fields take their
/// defaults and whose unknown fields are rejected, with a JSON schema.
///
/// ```
/// config::table! {
///     /// A cup.
///     pub struct Cup {
///         /// Content; default "tea".
///         pub content: String = "tea".to_owned(),
///         /// Whether it is hot; default false, which is the default of the type.
///         pub is_hot: bool,
///     }
/// }
/// assert_eq!(Cup::default().content, "tea");
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$about:meta])* pub $field:ident: $type:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone,
            PartialEq,
            Debug,
            $crate::serde::Serialize,
            $crate::serde::Deserialize,
            $crate::schemars::JsonSchema,
        )]
        #[serde(default, deny_unknown_fields, crate = "config::serde")]
        #[schemars(crate = "config::schemars")]
        pub struct $name {
            $($(#[$about])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $crate::default_or!($($default)?),)*
                }
            }
        }
    };
}

/// The expression, or the default of its type if there is none.
#[doc(hidden)]
#[macro_export]
macro_rules! default_or {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}
