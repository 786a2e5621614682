"""Diagnosis: the findings that name a cause, and the edits that would remove other findings."""
