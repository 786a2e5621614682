"""Diagnosis of the causes of findings, by trying edits that may correct the sheet."""
