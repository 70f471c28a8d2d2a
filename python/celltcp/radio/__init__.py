"""Analysis of radio scenarios: metrics by SINR and by phase of movement, and use of the MCS."""
