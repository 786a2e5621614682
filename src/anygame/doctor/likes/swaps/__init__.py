"""Arguments that look as if they had changed places: in rules, in facts, in the whole sheet."""
