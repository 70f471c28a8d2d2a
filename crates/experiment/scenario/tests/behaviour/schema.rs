//! The JSON schema.

use scenario::Scenario;
use serde_json::Value;

fn all_properties<'a>(schema: &'a Value, result: &mut Vec<(&'a String, &'a Value)>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                result.extend(properties);
            }
            fields
                .iter()
                .filter(|(key, _)| *key != "default")
                .for_each(|(_, inner)| all_properties(inner, result));
        }
        Value::Array(items) => items.iter().for_each(|item| all_properties(item, result)),
        _ => {}
    }
}

#[test]
fn every_field_is_described() {
    let schema: Value = serde_json::from_str(&Scenario::schema()).unwrap();
    let mut properties = Vec::new();
    all_properties(&schema, &mut properties);
    assert!(properties.len() > 100, "{}", properties.len());
    for (name, property) in properties {
        let plain = property.get("const").is_some()
            || (name == "name" && property.get("examples").is_some());
        assert!(
            plain || property["description"].is_string(),
            "{name}: {property}"
        );
    }
}

#[test]
fn every_table_is_closed_but_for_parameters() {
    fn check(schema: &Value) {
        if let Value::Object(fields) = schema {
            if fields.contains_key("properties") {
                assert!(fields.contains_key("additionalProperties"), "{schema:#}");
            }
            fields.values().for_each(check);
        } else if let Value::Array(items) = schema {
            items.iter().for_each(check);
        }
    }
    check(&serde_json::from_str(&Scenario::schema()).unwrap());
}
