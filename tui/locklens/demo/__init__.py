"""A sample repository in which every kind of change and finding has a place, to be looked at and to be tested with."""
