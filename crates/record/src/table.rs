//! Tables as columns, with the meaning of each column beside it.

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts and times.
    U64(Vec<u64>),
    /// Numbers of flows and the like.
    U32(Vec<u32>),
    /// Measures; NaN where there is none.
    F64(Vec<f64>),
    /// Names.
    Text(Vec<String>),
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: &'static str,
    /// What it means, with the unit.
    pub meaning: &'static str,
}

/// Lets a Rust type be a column.
pub(crate) trait Value: Sized {
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

/// Declares a table: a row type with a field per column, and the table of such rows as columns.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident of $row:ident { $($name:ident: $type:ty = $meaning:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $table {
            $(#[doc = $meaning] pub $name: Vec<$type>,)+
        }

        #[doc = concat!("A row of [`", stringify!($table), "`].")]
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $row {
            $(#[doc = $meaning] pub $name: $type,)+
        }

        impl $table {
            /// Name and meaning of each column.
            pub const COLUMNS: &[$crate::ColumnInfo] = &[
                $($crate::ColumnInfo { name: stringify!($name), meaning: $meaning },)+
            ];

            /// Appends a row.
            pub fn push(&mut self, row: $row) {
                $(self.$name.push(row.$name);)+
            }

            /// Appends the rows of another table.
            pub fn append(&mut self, mut other: Self) {
                $(self.$name.append(&mut other.$name);)+
            }

            /// The row with that number.
            ///
            /// # Panics
            /// If there is none.
            pub fn row(&self, index: usize) -> $row {
                $row { $($name: self.$name[index].clone(),)+ }
            }

            /// How many rows there are.
            pub fn len(&self) -> usize {
                [$(self.$name.len()),+][0]
            }

            /// Whether there is no row.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The columns, in the order of [`Self::COLUMNS`].
            pub fn into_columns(self) -> Vec<$crate::Column> {
                vec![$($crate::table::Value::column(self.$name),)+]
            }
        }
    };
}
pub(crate) use table;
