"""The reasoner: rules laid out flat, joined in a planned order, evaluated bottom-up by stratum.

A program passes the stages once, in this order; none knows the ones after it:

1. ``flatten`` lays normal rules out as ``relations`` say, numbers of terms in columns;
2. ``schema`` orders them: slots, levels, components; what has no meaning is refused;
3. ``plan`` says what rules see around them, and finds the order of their joins, from a snapshot of sizes;
4. ``rule_source`` and ``component_source`` write Python: ``source`` says what that is;
5. ``linker`` makes functions of it, with a guard beside them at run time;
6. ``engine`` evaluates components in frames, and asks for code when one is first needed;
7. ``reasoner`` knows what the relations of GDL mean, and asks the engine; ``explain`` asks the reasoner.

Every threshold stands in ``strategy``.
"""
