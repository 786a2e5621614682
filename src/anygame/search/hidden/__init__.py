"""Search in games of hidden information: beliefs, knowledge and information sets.

``belief`` follows what a role sees to the states that agree with it; ``searcher`` grows a tree for each role
over what that role can tell apart. Both play in the lanes of a network that knows percepts.
"""
