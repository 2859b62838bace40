"""The rules: their texts and severities in `catalogue`, their checks in one module for each subject, run by `judge`."""
