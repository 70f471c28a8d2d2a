"""Results: the tables of a campaign, how they were made, and the folder that keeps them."""
