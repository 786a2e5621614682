"""Search in games of hidden information: beliefs, knowledge and information sets."""
