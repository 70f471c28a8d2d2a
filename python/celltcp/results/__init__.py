"""Results: the tables of a campaign, their provenance and their folder."""
