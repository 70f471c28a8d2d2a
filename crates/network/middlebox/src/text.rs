//! Middleboxes as text, such as `es:reserve=4,at=node-1` on the command line.

use core::fmt;
use core::str::FromStr;

use config::Spec;
use serde_json::{Map, Value};

use crate::Middlebox;

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
            if fields.insert(name.clone(), value).is_some() {
                return Err(format!(
                    "{text:?}: {name:?} is given more than once; allowed: once"
                ));
            }
        }
        let read: Self = serde_json::from_value(Value::Object(fields))
            .map_err(|error| format!("{text:?}: {error}"))?;
        read.check().map_err(|error| format!("{text:?}: {error}"))?;
        Ok(read)
    }
}

impl fmt::Display for Middlebox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        let changed = config::changed_fields(self).into_iter();
        for (index, (name, value)) in changed.filter(|(name, _)| name != "kind").enumerate() {
            let separator = if index == 0 { ':' } else { ',' };
            write!(f, "{separator}{name}={}", value.trim_matches('"'))?;
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
