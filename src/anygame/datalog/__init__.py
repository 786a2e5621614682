"""The reasoner: rules laid out flat, joined in a planned order, evaluated bottom-up by stratum.

A program passes these stages once, in this order; no stage knows a later one:

1. ``flatten`` lays normal rules out as ``relations`` define: numbers of terms in columns;
2. ``schema`` assigns slots, levels and components, and rejects programs without a meaning;
3. ``plan`` describes the relations that rules see, and orders their joins by a snapshot of sizes;
4. ``rule_source`` and ``component_source`` generate Python; ``source`` defines its pieces;
5. ``linker`` compiles it, with a guard that counts work at run time;
6. ``engine`` evaluates components in frames, and requests code when it is first needed;
7. ``reasoner`` knows the meaning of GDL's relations and queries the engine; ``explain`` queries the reasoner.

Every threshold is in ``strategy``.
"""
