//! Random forest of ITU-T P.1203.3: regression trees over features of a session.

use std::path::Path;

use config::ConfigError;

/// Number of features.
const FEATURES: usize = 14;

/// Features of a session, in the order of the Recommendation: number of stalls; their duration; either per second of
/// video; time since the last stall; of the video scores three means and the percentiles 1, 5 and 10; of the audio
/// scores two means; duration of the session.
pub type Features = [f64; FEATURES];

/// Node of a tree.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Node {
    /// Predicted score.
    Leaf(f64),
    /// Goes left if the feature is below the threshold, else right.
    Split {
        feature: usize,
        threshold: f64,
        left: usize,
        right: usize,
    },
}

/// Regression trees, whose predictions are averaged.
#[derive(Clone, PartialEq, Debug)]
pub struct Forest {
    trees: Vec<Vec<Node>>,
}

impl Forest {
    /// Reads the trees of a folder: its files `tree*.csv`, in the order of their names. Each line is a node: its number
    /// from 0, the feature, the threshold, and the numbers of its left and its right child. A leaf has the feature -1,
    /// and its prediction in place of the threshold.
    ///
    /// # Errors
    /// A folder or file that cannot be read, and the first line that is no node.
    pub fn read(folder: &Path) -> Result<Self, ConfigError> {
        let fault = |place: &Path, message: String| ConfigError {
            place: place.display().to_string(),
            field: String::new(),
            message,
        };
        let entries =
            std::fs::read_dir(folder).map_err(|error| fault(folder, error.to_string()))?;
        let is_tree = |name: &str| name.starts_with("tree") && name.ends_with(".csv");
        let mut paths: Vec<_> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(is_tree)
            })
            .collect();
        paths.sort();
        if paths.is_empty() {
            return Err(fault(
                folder,
                "there is no tree; allowed: files tree*.csv".to_owned(),
            ));
        }
        let trees = paths.iter().map(|path| {
            let text =
                std::fs::read_to_string(path).map_err(|error| fault(path, error.to_string()))?;
            parse(&text, &path.display().to_string())
        });
        Ok(Self {
            trees: trees.collect::<Result<_, _>>()?,
        })
    }

    /// Creates a forest of one tree; `file` is its name in errors.
    ///
    /// # Errors
    /// The first line that is no node.
    #[cfg(test)]
    pub(crate) fn from_tree(text: &str, file: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            trees: vec![parse(text, file)?],
        })
    }

    /// Returns the mean of the predictions.
    pub fn answer(&self, features: &Features) -> f64 {
        let sum: f64 = self.trees.iter().map(|tree| descend(tree, features)).sum();
        sum / self.trees.len() as f64
    }
}

/// Returns the prediction of a tree. The numbers of children are higher than that of their parent, so the loop ends.
fn descend(tree: &[Node], features: &Features) -> f64 {
    let mut at = 0;
    loop {
        match tree[at] {
            Node::Leaf(prediction) => return prediction,
            Node::Split {
                feature,
                threshold,
                left,
                right,
            } => {
                at = if features[feature] < threshold {
                    left
                } else {
                    right
                };
            }
        }
    }
}

/// Reads a tree.
fn parse(text: &str, file: &str) -> Result<Vec<Node>, ConfigError> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let fault = |line: usize, message: &str| ConfigError {
        place: format!("{file}:{line}"),
        field: String::new(),
        message: message.to_owned(),
    };
    if lines.is_empty() {
        return Err(fault(1, "there is no node; allowed: 1 or more"));
    }
    let node = |(number, line): (usize, &&str)| {
        let fields: Vec<f64> = line
            .split(',')
            .map_while(|field| field.trim().parse().ok())
            .collect();
        let [own, feature, value, left, right] = fields[..] else {
            return Err(fault(
                number + 1,
                "this is no node; allowed: number, feature, threshold, left, right",
            ));
        };
        if own != number as f64 {
            return Err(fault(
                number + 1,
                "the number is out of order; allowed: 0, 1, 2 and so on",
            ));
        }
        if feature == -1.0 {
            return Ok(Node::Leaf(value));
        }
        let later = number as f64 + 1.0..lines.len() as f64;
        let is_known = (0.0..FEATURES as f64).contains(&feature);
        if !is_known || !later.contains(&left) || !later.contains(&right) {
            return Err(fault(
                number + 1,
                "a feature or node is out of range; allowed: features -1 to 13, later nodes",
            ));
        }
        Ok(Node::Split {
            feature: feature as usize,
            threshold: value,
            left: left as usize,
            right: right as usize,
        })
    };
    lines.iter().enumerate().map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "0, 13, 60.0, 1, 2\n1,-1, 2.5, -1, -1\n2, 0, 1.0, 3, 4\n3,-1, 4.5, -1, -1\n4,-1, 1.5, -1, -1\n";

    #[test]
    fn a_tree_is_descended_by_its_thresholds() {
        let forest = Forest::from_tree(TREE, "tree1.csv").unwrap();
        let features = |stalls, duration| {
            let mut features = [0.0; FEATURES];
            features[0] = stalls;
            features[13] = duration;
            features
        };
        let answers = [(0.0, 59.0), (0.0, 60.0), (1.0, 90.0)]
            .map(|(stalls, s)| forest.answer(&features(stalls, s)));
        assert_eq!(answers, [2.5, 4.5, 1.5]);
    }

    #[test]
    fn faults_name_file_and_line() {
        let fault = |from: &str, to: &str| {
            Forest::from_tree(&TREE.replace(from, to), "tree1.csv")
                .unwrap_err()
                .place
        };
        assert_eq!(fault("2, 0, 1.0, 3, 4", "2, 0, 1.0, 3, 9"), "tree1.csv:3");
        assert_eq!(fault("2, 0, 1.0, 3, 4", "2, 0, 1.0, 0, 4"), "tree1.csv:3");
        assert_eq!(fault("0, 13,", "0, 14,"), "tree1.csv:1");
        assert_eq!(fault("3,-1, 4.5", "3,-1, high"), "tree1.csv:4");
        assert_eq!(fault("1,-1, 2.5", "7,-1, 2.5"), "tree1.csv:2");
        assert_eq!(
            Forest::from_tree("", "tree1.csv").unwrap_err().place,
            "tree1.csv:1"
        );
        assert!(
            Forest::read(Path::new("/nowhere"))
                .unwrap_err()
                .place
                .contains("nowhere")
        );
    }
}
