//! Middleboxes as texts, such as `es:reserve=4,at=node-1` on the command line.

use core::fmt;
use core::str::FromStr;

use config::{RenamedKey, Spec};
use serde_json::{Map, Value};

use crate::{Kind, Middlebox};

impl FromStr for Middlebox {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Spec { name, settings, .. } = text.parse()?;
        let mut fields = Map::new();
        fields.insert("kind".to_owned(), Value::from(name));
        for (name, value) in settings {
            let value = value
                .parse::<u64>()
                .map_or_else(|_| Value::from(value), Value::from);
            let name = Self::renamed(&name).map_or(name, str::to_owned);
            if fields.insert(name.clone(), value).is_some() {
                return Err(format!(
                    "{text:?}: {name:?} is given more than once; allowed: once"
                ));
            }
        }
        let read: Self = serde_json::from_value(Value::Object(fields))
            .map_err(|error| format!("{text:?}: {error}"))?;
        read.check().map_err(|wrong| format!("{text:?}: {wrong}"))?;
        Ok(read)
    }
}

impl Middlebox {
    /// Returns the former names of settings in the text of a middlebox, each with the present one.
    pub fn former_settings(text: &str) -> Vec<RenamedKey> {
        let Ok(given) = text.parse::<Spec>() else {
            return Vec::new();
        };
        let is_middlebox = Kind::ALL.iter().any(|known| known.name() == given.name);
        let renamed = Self::RENAMED.iter().copied();
        renamed
            .filter(|(former, _)| is_middlebox && given.settings.contains_key(*former))
            .collect()
    }

    /// Returns the present name of a setting, if `former` is one of before.
    fn renamed(former: &str) -> Option<&'static str> {
        let mut renamed = Self::RENAMED.iter();
        renamed
            .find(|(name, _)| *name == former)
            .map(|(_, now)| *now)
    }
}

impl fmt::Display for Middlebox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        let set = config::changed(self);
        let others = set.into_iter().filter(|(name, _)| name != "kind");
        for (number, (name, value)) in others.enumerate() {
            let sign = if number == 0 { ':' } else { ',' };
            write!(f, "{sign}{name}={}", value.trim_matches('"'))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Middlebox;

    #[test]
    fn a_text_is_read_and_written() {
        for text in [
            "split",
            "es",
            "es:at=node-1,cca=bbr,reserve=4",
            "split:buffer=64kB",
        ] {
            let read: Middlebox = text.parse().expect("a middlebox");
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn former_names_of_settings_are_read() {
        let read: Middlebox = "as:piggyback=5ms".parse().expect("a middlebox");
        assert_eq!(read.to_string(), "as:max_ack_wait=5ms");
        let renamed = ("piggyback", "max_ack_wait");
        assert_eq!(Middlebox::former_settings("as:piggyback=5ms"), [renamed]);
        assert_eq!(Middlebox::former_settings("as:max_ack_wait=5ms"), []);
        assert_eq!(Middlebox::former_settings("mine:piggyback=5ms"), []);
        let both = "as:piggyback=5ms,max_ack_wait=5ms".parse::<Middlebox>();
        assert!(both.is_err_and(|error| error.contains("given more than once")));
    }

    #[test]
    fn a_wrong_text_is_explained() {
        for (text, part) in [
            (
                "ess",
                "unknown variant `ess`, expected one of `split`, `es`, `as`, `mtcp`, `mtcp-plus`, `pam`, `snoop`, `eln`, \
                 `freeze`, `ack-regulator`",
            ),
            (
                "es:reserve",
                "\"reserve\" is not a setting; allowed: parameter=value",
            ),
            ("es:size=3", "unknown field `size`, expected one of"),
            (
                "es:reserve=1",
                "reserve: 1 is out of range; allowed: 2 to 1000",
            ),
            ("es:reserve=2,reserve=3", "given more than once"),
        ] {
            let error = text.parse::<Middlebox>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
