"""The reasoner: rules laid out flat, joined in a planned order, evaluated bottom-up by stratum.

A program passes these stages once, in this order; no stage knows a later one:

1. ``flatten`` turns normal rules into flat rules, over the ``relations`` with numbers of terms in columns;
2. ``schema`` assigns slots, levels and components, and rejects programs without a meaning;
3. ``plan`` describes the relations that rules read, and orders the joins by a snapshot of sizes;
4. ``rule_source`` and ``component_source`` generate Python code, whose pieces ``source`` defines;
5. ``linker`` compiles the code, and counts its work at run time;
6. ``engine`` evaluates components in frames, and generates code when it is first needed;
7. ``reasoner`` knows the meaning of the relations of GDL and queries the engine; ``explain`` queries it.

``strategy`` contains all thresholds.
"""
