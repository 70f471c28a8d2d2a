"""The radio held against what was measured: on a motorway, under fading, by phones."""
