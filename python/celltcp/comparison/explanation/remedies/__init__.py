"""Remedies of causes: changes of a setting, CCA or middlebox, and who makes each."""
