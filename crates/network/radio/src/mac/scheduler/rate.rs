//! Rate of a transport block, from the rates of its groups.

use crate::settings::SubbandRate;

/// Returns the bits per resource block for the groups of `user` in `assignment`; zero if it has none.
pub fn usable_rate(
    rule: SubbandRate,
    user: u16,
    assignment: &[u16],
    rates: &[f32],
    group_prbs: &[u16],
) -> f32 {
    let (mut weakest, mut bits, mut total) = (f32::INFINITY, 0.0, 0.0);
    for ((&owner, &rate), &prbs) in assignment.iter().zip(rates).zip(group_prbs) {
        if owner == user {
            weakest = weakest.min(rate);
            bits += rate * f32::from(prbs);
            total += f32::from(prbs);
        }
    }
    match rule {
        _ if total == 0.0 => 0.0,
        SubbandRate::Weakest => weakest,
        SubbandRate::Mean => bits / total,
    }
}
