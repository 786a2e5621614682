"""Search where information is hidden: what may be true, and what to do about it.

``belief`` follows what a role sees to the states that agree with it; ``searcher`` grows a tree for each role
over what that role can tell apart. Both play in the lanes of a network that knows percepts.
"""
