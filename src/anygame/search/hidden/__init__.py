"""Search in games of hidden information: beliefs, knowledge and information sets.

``belief`` computes the states that agree with the observations of a role. ``searcher`` grows a tree of
information sets for each role. Both need a network that computes percepts.
"""
