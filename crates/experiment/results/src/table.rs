//! Table: rows as columns, each with its meaning.

use std::borrow::Cow;

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts and times.
    U64(Vec<u64>),
    /// Indices of flows and other small counts.
    U32(Vec<u32>),
    /// Measures; NaN where there is none.
    F64(Vec<f64>),
    /// Names.
    Text(Vec<String>),
}

impl Column {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Returns whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the values of another column of the same kind.
    ///
    /// # Panics
    /// If the other column is of another kind.
    pub fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::U64(values), Self::U64(mut more)) => values.append(&mut more),
            (Self::U32(values), Self::U32(mut more)) => values.append(&mut more),
            (Self::F64(values), Self::F64(mut more)) => values.append(&mut more),
            (Self::Text(values), Self::Text(mut more)) => values.append(&mut more),
            (kind, other) => panic!("{other:?} is of another kind than {kind:?}"),
        }
    }
}

/// Name and meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name of the column.
    pub name: &'static str,
    /// Meaning of the values, with their unit.
    pub meaning: &'static str,
}

/// Whether a table is always written, or only with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In all results.
    Required,
    /// In results for which something wrote rows.
    Optional,
}

/// Name, meaning and columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Name of the table.
    pub name: &'static str,
    /// Meaning of a row.
    pub meaning: &'static str,
    /// Results that hold the table.
    pub presence: Presence,
    /// The columns, in their order.
    pub columns: &'static [ColumnInfo],
}

/// Type of the values of a column.
pub trait Value: Sized {
    /// Returns the values as a column.
    fn column(values: Vec<Self>) -> Column;
}

macro_rules! value {
    ($type:ty, $variant:ident) => {
        impl Value for $type {
            fn column(values: Vec<Self>) -> Column {
                Column::$variant(values)
            }
        }
    };
}
value!(u64, U64);
value!(u32, U32);
value!(f64, F64);
value!(String, Text);

/// Texts that are mostly constants, so that a row allocates nothing.
impl Value for Cow<'static, str> {
    fn column(values: Vec<Self>) -> Column {
        Column::Text(values.into_iter().map(Self::into_owned).collect())
    }
}

/// Declares tables: of each a row type with a field per column and the table of such rows, and the struct `Tables`,
/// which holds one of each.
#[macro_export]
macro_rules! tables {
    ($($(#[doc = $doc:literal])+ $name:ident: $table:ident of $row:ident, $presence:ident {
        $($column:ident: $type:ty = $meaning:literal,)+
    })+) => {
        $($crate::table! {
            $(#[doc = $doc])+ $table of $row { $($column: $type = $meaning,)+ }
        })+

        /// One of each table.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct Tables {
            $($(#[doc = $doc])+ pub $name: $table,)+
        }

        impl Tables {
            /// Name, meaning and columns of each table.
            pub const ALL: &[$crate::TableInfo] = &[
                $($crate::TableInfo {
                    name: stringify!($name),
                    meaning: concat!($($doc),+).trim_ascii(),
                    presence: $crate::Presence::$presence,
                    columns: $table::COLUMNS,
                },)+
            ];

            /// Returns the columns of each table, in the order of [`Self::ALL`].
            pub fn into_columns(self) -> impl Iterator<Item = (&'static $crate::TableInfo, Vec<$crate::Column>)> {
                Self::ALL.iter().zip([$(self.$name.into_columns()),+])
            }
        }
    };
}

/// Declares a table: a row type with a field per column, and the table of such rows as columns.
#[macro_export]
macro_rules! table {
    ($(#[$doc:meta])* $table:ident of $row:ident { $($name:ident: $type:ty = $meaning:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $table {
            $(#[doc = $meaning] pub $name: Vec<$type>,)+
        }

        #[doc = concat!("A row of `", stringify!($table), "`.")]
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $row {
            $(#[doc = $meaning] pub $name: $type,)+
        }

        impl $table {
            /// Name and meaning of each column.
            pub const COLUMNS: &[$crate::ColumnInfo] = &[
                $($crate::ColumnInfo { name: stringify!($name), meaning: $meaning },)+
            ];

            /// Memory of a row, bytes, without the letters of texts.
            pub const ROW_BYTES: u64 = (0 $(+ size_of::<$type>())+) as u64;

            /// Appends a row.
            pub fn push(&mut self, row: $row) {
                $(self.$name.push(row.$name);)+
            }

            /// Appends the rows of another table.
            pub fn append(&mut self, mut other: Self) {
                $(self.$name.append(&mut other.$name);)+
            }

            /// Returns the row with that number.
            ///
            /// # Panics
            /// If there is no such row.
            pub fn row(&self, index: usize) -> $row {
                $row { $($name: self.$name[index].clone(),)+ }
            }

            /// Returns the number of rows.
            pub fn len(&self) -> usize {
                [$(self.$name.len()),+][0]
            }

            /// Returns whether there is no row.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the columns, in the order of [`Self::COLUMNS`].
            pub fn into_columns(self) -> Vec<$crate::Column> {
                vec![$($crate::Value::column(self.$name),)+]
            }
        }
    };
}
